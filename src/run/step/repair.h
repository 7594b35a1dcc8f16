#pragma once

#include <set>
#include <string>

#include "run/step/phases.h"

namespace wheelsmith::run {

// Copies the libraries that the wheel needs into it, as the recipe's [repair] says. `run_paths` are the folders that
// the binaries searched before their run paths were cleaned. The result replaces `finished`. Throws WheelRefused.
void repair_finished(const FinishInputs& inputs, const std::set<std::string>& run_paths, std::int64_t time,
                     FinishedWheel& finished, const StepServices& services);

}  // namespace wheelsmith::run
