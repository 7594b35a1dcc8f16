#pragma once

#include <string>

#include "report/style.h"
#include "run/outcome.h"

namespace wheelsmith::report {

// Why a step failed. It fits one screen of 24 lines and 80 columns and ends with cause, message and fix; with --all
// nothing is left out.
std::string failure_block(const run::StepOutcome& step, const Style& style);

}  // namespace wheelsmith::report
