#pragma once

#include "plan/plan.h"

namespace wheelsmith::plan {

// How much a step will download before it starts: its sdist and the wheels of its environment that the store does not
// have. Sizes are those of the index's pages; asked once for each file and remembered.
DownloadForecast forecast_downloads(const BuildSpec& spec, const PlanInputs& inputs);

}  // namespace wheelsmith::plan
