#pragma once

#include <map>
#include <string>

#include "plan/plan.h"

namespace wheelsmith::plan {

// Needs the step's source, torch, toolkits and fetches. Throws Error for a --set that is none of its choices.
std::map<std::string, std::string> placeholder_values(const Step& step, const recipe::Recipe& recipe,
                                                      const recipe::Rules& rules, const Request& request);

}  // namespace wheelsmith::plan
