#pragma once

#include <string>
#include <vector>

#include "toolchain/toolchain.h"

// What an environment of the user's has, for builds that take it as it is (--no-build-isolation).

namespace wheelsmith::env {

struct InstalledPackage {
  std::string name, version;
  std::string digest;  // of the list of its files, or of its metadata where there is no such list
};

// Every package that `python` would import from its site-packages, sorted by normalized name; of two with one name, the
// one that comes first on its path.
std::vector<InstalledPackage> installed_packages(const toolchain::Python& python);
// By PEP 503's comparison; null when it is not there.
const InstalledPackage* find_package(const std::vector<InstalledPackage>& packages, std::string_view name);

// The requirements that hold for `python` and that the packages do not meet.
struct UnmetRequirements {
  std::vector<std::string> missing;        // "ninja>=1.11"
  std::vector<std::string> other_version;  // "setuptools>=77 (65.5.0 is installed)"
};
UnmetRequirements unmet_requirements(const std::vector<std::string>& requirements,
                                     const std::vector<InstalledPackage>& packages, const toolchain::Python& python);

}  // namespace wheelsmith::env
