#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wheel/check/loader/loader.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// A loaded file, with the one that first required it.
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

// One run path entry with $ORIGIN, $LIB and $PLATFORM expanded. $LIB is "lib64" on some distributions and
// "lib/x86_64-linux-gnu" on others, so there may be two results. None for relative and empty entries, which depend on
// the current directory.
std::vector<std::string> expand_run_path(std::string_view element, const LoadedFile& file);

// The folders that the loader searches for the libraries of `file`, in order.
std::vector<SearchFolder> search_folders(const LoadedFile& file, const LoaderMachine& machine);

}  // namespace wheelsmith::wheel
