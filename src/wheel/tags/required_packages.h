#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/read/distribution.h"
#include "wheel/read/elf_facts.h"
#include "wheel/read/python_use.h"

namespace wheelsmith::wheel {

// The packages that are installed wherever a wheel is, because it requires them, and what its Python code does with
// them.
struct RequiredPackages {
  std::vector<std::string> required;  // normalized names, without those that belong to an extra
  std::vector<std::string> parts;     // those that are parts of the same project: pinned to the wheel's own version
  std::set<std::string> imported;     // modules
  std::set<std::string> loaded;       // modules whose load_library() is called

  // Whether one of the required packages has a module or folder of that name in site-packages, by what it is called.
  [[nodiscard]] bool has_module(std::string_view name) const;
};

RequiredPackages required_packages(const Distribution& distribution, const PythonUse& python);

// A required package that a library comes from. It is certain where the name fits and a run path or Python code leads
// there; otherwise it is only likely.
struct RequiredLibrary {
  std::string package;
  bool certain = false;
};

// The folders that the files lie in, "" for the top.
std::set<std::string> folders_of(const std::vector<ElfFacts>& files);

// Which of the packages has the library that `file` needs. `own_folders` are the folders of the wheel's binaries.
std::optional<RequiredLibrary> find_required(const RequiredPackages& packages, const ElfFacts& file,
                                             std::string_view soname, const std::set<std::string>& own_folders);

}  // namespace wheelsmith::wheel
