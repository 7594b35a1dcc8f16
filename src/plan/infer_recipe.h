#pragma once

#include <string>

#include "plan/plan.h"

namespace wheelsmith::plan {

// The recipe that is made up for a package that has none, from the source that the request names or the registry's
// newest sdist; what `recipe init` writes. Runs nothing of the source.
recipe::Recipe infer_recipe(const std::string& package, const Request& request, const PlanInputs& inputs);

}  // namespace wheelsmith::plan
