#pragma once

#include <string>
#include <vector>

#include "cli/session.h"
#include "doctor/doctor.h"
#include "plan/plan.h"
#include "run/run.h"

namespace wheelsmith::cli {

// What a build is closed with: the recipe's checklist of each step that was asked for, item by item. `into` is the
// interpreter of the environment that the wheels were installed into; the one they were built for where it is empty.
// Where nothing was to be installed, what is not is unknown, not bad.
std::vector<doctor::Check> closing_checklist(const plan::Plan& plan, const std::vector<run::StepOutcome>& outcomes,
                                             bool installed, const std::filesystem::path& into, Session& session);

}  // namespace wheelsmith::cli
