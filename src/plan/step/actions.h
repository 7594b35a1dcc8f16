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
  std::string hipify{};  // the script that is run before everything else; "" for none
};
// What the step will do, in order.
std::vector<Action> make_actions(const ActionInputs& inputs);

// What the recipe would do to the source, and an editable install does not: its files are the user's. Each in a few
// words.
std::vector<std::string> left_out_in_place(const ActionInputs& inputs);

}  // namespace wheelsmith::plan
