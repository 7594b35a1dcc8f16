#pragma once

#include "plan/plan.h"

namespace wheelsmith::plan {

// What a step finds in its environment, all of it: nothing is inherited. The package's own variables come last and win.
// Sets step.environment, volatile_environment, config and options; needs all the rest of the step.
void set_variables(Step& step, const recipe::Recipe& recipe, const recipe::Rules& rules, const Request& request,
                   const PlanInputs& inputs);

// Where a step finds what was brought beside its source.
std::string fetched_folder(const FetchedSource& fetched);

// The label of a variant for local versions: "cpu", "cu130", "rocm6.4".
std::string variant_label(const Step& step);

}  // namespace wheelsmith::plan
