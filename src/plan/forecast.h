#pragma once

#include "plan/plan.h"

namespace wheelsmith::plan {

// From the recipe's estimates, for a machine with this many cores.
Forecast estimate(const gpu::ArchList& archs, const recipe::Estimate& known, unsigned cores);
// From the last build of the same identity, else from the recipe's estimates.
Forecast forecast(const BuildSpec& spec, const recipe::Estimate& known, const store::Store& store);

}  // namespace wheelsmith::plan
