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
// What a step finds in its environment, all of it: nothing is inherited. The package's own variables come after ours,
// the user's last.
VariableSpec make_variables(const VariableInputs& inputs);
// Those that decide no result (jobs, verbosity), beside the given ones.
Pairs loose_variables(const VariableInputs& inputs, const Pairs& fixed);

// The recipe's text with its placeholders filled in; nothing for one that comes to nothing: a setting was left empty.
std::optional<std::string> expand_or_nothing(const std::string& text, const Placeholders& values);

}  // namespace wheelsmith::plan
