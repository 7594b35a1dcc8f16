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
  // The facts of the library at an absolute path, with its exported names, or nothing where there is none.
  std::function<std::optional<ElfFacts>(const std::string& path)> library_at;
  std::string interpreter = {};  // the Python that loads the files; "" where it is not known
};

// Resolves every NEEDED of the files of an installed folder as the loader would (RPATH of the file and its loaders,
// LD_LIBRARY_PATH, RUNPATH, default folders; $ORIGIN, $LIB, $PLATFORM). Findings: not found; found in a folder that
// shadows the file that the wheel ships or the one that its run path names; wrong machine.
// A file that the package works without (`roles`) gives a warning where another gives an error.
std::vector<Finding> check_loading(const std::vector<ElfFacts>& files, const std::string& folder,
                                   const LoaderMachine& machine, const FileRoles& roles = {});

// What else is loaded with the files: the libraries of the machine that they need, transitively, and the interpreter,
// whose symbols and libraries all of them see.
std::vector<Provider> machine_libraries(const std::vector<ElfFacts>& files, const LoaderMachine& machine);

}  // namespace wheelsmith::wheel
