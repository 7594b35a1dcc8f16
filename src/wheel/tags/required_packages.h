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

// The packages that a wheel requires, and how its Python code uses them.
struct RequiredPackages {
  std::vector<std::string> required;  // normalized names, without those of extras
  std::vector<std::string> parts;     // parts of the same project: pinned to the wheel's own version
  std::set<std::string> imported;     // modules
  std::set<std::string> loaded;       // modules whose load_library() is called

  // Whether a required package has a module or folder of that name in site-packages, judging by its name.
  [[nodiscard]] bool has_module(std::string_view name) const;
};

RequiredPackages required_packages(const Distribution& distribution, const PythonUse& python);

// A required package that provides a library. It is certain if the name matches and a run path or Python code reaches
// it; otherwise it is only likely.
struct RequiredLibrary {
  std::string package;
  bool certain = false;
};

// The folders that contain the files, "" for the top.
std::set<std::string> folders_of(const std::vector<ElfFacts>& files);

// The package that contains the library that `file` needs. `own_folders` are the folders of the wheel's binaries.
std::optional<RequiredLibrary> find_required(const RequiredPackages& packages, const ElfFacts& file,
                                             std::string_view soname, const std::set<std::string>& own_folders);

}  // namespace wheelsmith::wheel
