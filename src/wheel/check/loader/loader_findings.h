#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "wheel/check/loader/loader_search.h"

namespace wheelsmith::wheel {

// One NEEDED name of a file that is being loaded.
struct LibraryNeed {
  const LoadedFile* file = nullptr;
  std::string_view library;
  std::string_view subject;  // the file's path as the user knows it
  std::string_view root;     // likewise for the root of the load: the extension that Python imports
};

// Versions of the library that the file needs and `found` does not define.
std::vector<std::string> versions_lacking(const LibraryNeed& need, const ElfFacts& found);

Finding not_found(const LibraryNeed& need, const std::vector<SearchFolder>& folders);
// The library is in the same folder tree (`elsewhere`), but on no search path.
Finding preload_only(const LibraryNeed& need, std::string_view elsewhere);
// `found` is loaded although the run path names `meant`.
Finding shadowed(const LibraryNeed& need, const LoadedFile& found, const LoadedFile& meant);
Finding versions_missing(const LibraryNeed& need, const LoadedFile& found, const std::vector<std::string>& versions);
Finding wrong_machine(const LibraryNeed& need, const LoadedFile& skipped);

}  // namespace wheelsmith::wheel
