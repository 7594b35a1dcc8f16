#pragma once

#include <string>
#include <vector>

#include "toolchain/toolchain.h"

// Packages of the user's environment, for builds that use it as it is (--no-build-isolation).

namespace wheelsmith::env {

struct InstalledPackage {
  std::string name, version;
  std::string digest;  // of its file list, or of its metadata without one
};

// Every package that `python` would import from its site-packages, sorted by normalized name; for duplicates the first
// on its path.
std::vector<InstalledPackage> installed_packages(const toolchain::Python& python);
// Compared as in PEP 503; null when not installed.
const InstalledPackage* find_package(const std::vector<InstalledPackage>& packages, std::string_view name);

// Requirements that apply to `python` and that the packages do not meet.
struct UnmetRequirements {
  std::vector<std::string> missing;        // "ninja>=1.11"
  std::vector<std::string> other_version;  // "setuptools>=77 (65.5.0 is installed)"
};
UnmetRequirements unmet_requirements(const std::vector<std::string>& requirements,
                                     const std::vector<InstalledPackage>& packages, const toolchain::Python& python);

}  // namespace wheelsmith::env
