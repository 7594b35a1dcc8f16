#pragma once

#include <string>
#include <vector>

#include "doctor/abilities.h"
#include "doctor/doctor.h"
#include "report/style.h"

namespace wheelsmith::report {

// The end of the machine report: what it can build now, and the command to try first.
struct MachineSummary {
  std::vector<doctor::Ability> abilities;
  std::string try_first;
};
std::string summary_text(const MachineSummary& summary, const Style& style);

// {"schema":1,"checks":[{"id","state","found","wanted","why","fix","package","step"}]}; with a summary also
// "can_build":[{"variant","can","how","fix"}] and "try_first".
std::string doctor_json(const std::vector<doctor::Check>& checks, const MachineSummary* summary = nullptr);

// One line for a good check; other checks also show what is required, why, and the fix. One block per step.
std::string doctor_text(const std::vector<doctor::Check>& checks, const Style& style);

}  // namespace wheelsmith::report
