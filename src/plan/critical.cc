#include "plan/plan.h"

namespace wheelsmith::plan {

// Steps stand behind what they need, so one pass from the back sees every follower before the step itself.
std::map<std::string, double> critical_seconds(const Plan& plan) {
  std::map<std::string, double> behind;
  std::map<std::string, double> result;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    // What is not known counts as a minute: more than nothing, less than what is known to be long.
    const double own = step->cached ? 0 : step->forecast.seconds > 0 ? step->forecast.seconds : 60;
    const double total = own + behind[step->id];
    result[step->id] = total;
    for (const std::string& need : step->needs) behind[need] = std::max(behind[need], total);
  }
  return result;
}

}  // namespace wheelsmith::plan
