#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wheel/check/loader/loader.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// A file as the loader holds it, with the one that asked for it first.
struct LoadedFile {
  const ElfFacts* facts = nullptr;
  std::string path;                    // absolute
  bool is_own = false;                 // of the folder that is checked
  const LoadedFile* loader = nullptr;  // null for the root
};

enum class FolderKind { rpath, library_path, runpath, system };

struct SearchFolder {
  std::string path;
  FolderKind kind = FolderKind::system;
};

// "/a/b/../c" is "/a/c", by its text alone.
std::string normal_path(std::string_view path);

// One element of a run path with its $ORIGIN, $LIB and $PLATFORM filled in. $LIB is "lib64" on some distributions and
// "lib/x86_64-linux-gnu" on others, so there may be two. Relative and empty elements mean the folder that the process
// happens to be in: none.
std::vector<std::string> expand_run_path(std::string_view element, const LoadedFile& file);

// The folders in which the loader looks for what `file` needs, in its order.
std::vector<SearchFolder> search_folders(const LoadedFile& file, const LoaderMachine& machine);

}  // namespace wheelsmith::wheel
