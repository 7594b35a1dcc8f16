#pragma once

#include <string>
#include <vector>

#include "base/finding.h"

namespace wheelsmith::wheel {

// Member names that point outside the installation folder, or that collide on case-insensitive file systems.
std::vector<Finding> check_member_names(const std::vector<std::string>& names);

// Whether the name points outside the folder it is unpacked into, on any system ('\' and drive letters count).
bool is_unsafe_path(std::string_view name);

}  // namespace wheelsmith::wheel
