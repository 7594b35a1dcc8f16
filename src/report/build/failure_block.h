#pragma once

#include <string>

#include "report/style.h"
#include "run/outcome.h"

namespace wheelsmith::report {

// Explains why a step failed. Fits a screen of 24 lines by 80 columns and ends with cause, message and fix; --all shows
// everything.
std::string failure_block(const run::StepOutcome& step, const Style& style);

}  // namespace wheelsmith::report
