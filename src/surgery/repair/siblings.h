#pragma once

#include <string>
#include <vector>

namespace wheelsmith::surgery {

// Where a library of another package lies once both are installed.
struct SiblingFolder {
  std::string folder;     // below site-packages
  std::string package;    // that has it; a pattern where none is required
  bool required = false;  // the wheel requires such a package
};

// The folders that may hold the library: those of packages that the wheel requires, else all that are known. `required`
// are normalized names.
std::vector<SiblingFolder> sibling_folders(const std::string& soname, const std::vector<std::string>& required);

}  // namespace wheelsmith::surgery
