#pragma once

#include "plan/plan.h"

namespace wheelsmith::plan {

// The download size of a step: its sdist and the wheels of its environment that are not in the store. Sizes come from
// the index pages; each file is queried once and remembered.
DownloadForecast forecast_downloads(const BuildSpec& spec, const PlanInputs& inputs);

}  // namespace wheelsmith::plan
