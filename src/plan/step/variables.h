#pragma once

#include "plan/plan.h"
#include "plan/step/placeholders.h"

namespace wheelsmith::plan {

struct VariableInputs {
  const BuildSpec& spec;
  const recipe::Rules& rules;
  const Placeholders& values;
  const std::vector<FetchSource>& fetches;
  const std::map<std::string, std::string>& user;  // --env, --env-file
  const toolchain::Host& host;
  bool allow_unsupported_compiler = false;
};
// The complete environment of a step; nothing is inherited. The package's variables override wheelsmith's, and the
// user's override both.
VariableSpec make_variables(const VariableInputs& inputs);
// The variables that do not affect the result (jobs, verbosity), in addition to the given ones.
Pairs loose_variables(const VariableInputs& inputs, const Pairs& fixed);

// The recipe's text with placeholders replaced; nullopt if the result is empty, because a setting is empty.
std::optional<std::string> expand_or_nothing(const std::string& text, const Placeholders& values);

}  // namespace wheelsmith::plan
