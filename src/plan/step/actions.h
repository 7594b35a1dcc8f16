#pragma once

#include "plan/plan.h"
#include "plan/sources.h"
#include "plan/step/placeholders.h"

namespace wheelsmith::plan {

struct ActionInputs {
  const BuildSpec& spec;  // with its source, tools and variables
  const recipe::Rules& rules;
  const Placeholders& values;
  const std::vector<FetchSource>& fetches;
  PatchTexts patches{};
  std::string hipify{};  // the script that runs first; "" if there is none
};
// The actions of the step, in order.
std::vector<Action> make_actions(const ActionInputs& inputs);

// Short descriptions of the recipe's changes to the source, which an editable install skips because the files belong to
// the user.
std::vector<std::string> skipped_in_place(const ActionInputs& inputs);

}  // namespace wheelsmith::plan
