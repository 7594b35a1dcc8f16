#pragma once

#include <string>

#include "report/help.h"

namespace wheelsmith::report {

// The manual page of a command (section 1) in groff's man macros. `version` is in the footer.
std::string man_page(const DescribedCommand& command, const std::string& version);
// "wheelsmith-recipe-show".
std::string man_name(const DescribedCommand& command);

}  // namespace wheelsmith::report
