#pragma once

#include <string>
#include <vector>

#include "doctor/doctor.h"
#include "report/style.h"

namespace wheelsmith::report {

// {"schema":1,"checks":[{"id","state","found","wanted","why","fix","package","step"}]}
std::string doctor_json(const std::vector<doctor::Check>& checks);

// A line for what is good; what is not also says what is wanted, why, and what mends it. One block for each step.
std::string doctor_text(const std::vector<doctor::Check>& checks, const Style& style);

}  // namespace wheelsmith::report
