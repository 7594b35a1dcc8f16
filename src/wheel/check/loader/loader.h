#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/read/elf_facts.h"
#include "wheel/read/file_roles.h"
#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// The machine as the dynamic loader sees it. Paths are absolute.
struct LoaderMachine {
  std::vector<std::string> library_path;     // LD_LIBRARY_PATH
  std::vector<std::string> default_folders;  // the loader's own, /etc/ld.so.conf included
  // The facts of the library at an absolute path, with its exported names, or nothing if there is none.
  std::function<std::optional<ElfFacts>(const std::string& path)> library_at;
  std::string interpreter = {};  // the Python that loads the files; "" if unknown
};

// Resolves every NEEDED of the files of an installed folder as the loader would (RPATH of the file and its loaders,
// LD_LIBRARY_PATH, RUNPATH, default folders; $ORIGIN, $LIB, $PLATFORM). Findings: not found; shadowed by a library in
// another folder; wrong machine. For files that the package works without (`roles`), errors become warnings.
std::vector<Finding> check_loading(const std::vector<ElfFacts>& files, const std::string& folder,
                                   const LoaderMachine& machine, const FileRoles& roles = {});

// Libraries loaded with the files: those of the machine that they need, transitively, and the interpreter, whose
// symbols and libraries are visible to all of them.
std::vector<Provider> machine_libraries(const std::vector<ElfFacts>& files, const LoaderMachine& machine);

}  // namespace wheelsmith::wheel
