#pragma once

#include <string>

#include "report/help.h"

namespace wheelsmith::report {

// The manual page of a command in section 1, as groff's man macros want it. `version` stands in its foot.
std::string man_page(const DescribedCommand& command, const std::string& version);
// "wheelsmith-recipe-show".
std::string man_name(const DescribedCommand& command);

}  // namespace wheelsmith::report
