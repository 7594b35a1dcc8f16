#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagnose/diagnose.h"

// Which Linux or conda package provides something that a build did not find (data/packages.tsv).

namespace wheelsmith::diagnose {

struct SystemPackage {
  std::string_view debian, rpm, conda;  // "-" if the distribution has none
};

enum class Missing { header, pc, lib, program, cmake };

std::optional<SystemPackage> package_with(Missing kind, std::string_view name);
// Whatever kind of thing it is: Meson's "cairo" is a pkg-config module, a CMake package or a library.
std::optional<SystemPackage> package_with_any(std::string_view name);

// From the named groups of a match ("header", "pc", "library", "program", "pkg", "dependency"): "debian", "rpm",
// "conda", and "install", the command. Empty when no package is known.
Values package_values(const Values& groups);

}  // namespace wheelsmith::diagnose
