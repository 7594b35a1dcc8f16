#pragma once

#include <string>
#include <vector>

#include "base/finding.h"

namespace wheelsmith::wheel {

// Member names that lead out of the folder a wheel is unpacked into, or that collide where case does not count.
std::vector<Finding> check_member_names(const std::vector<std::string>& names);

// Whether the name leads out of the folder it is unpacked into, on any system ('\' and drive letters count).
bool is_unsafe_path(std::string_view name);

}  // namespace wheelsmith::wheel
