#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/locks.h"
#include "plan/notes.h"
#include "plan/toolbox.h"

namespace wheelsmith::plan {

// Throws Error that names the recipe for a text that is not a requirement ("triton==").
void check_requirements(const std::vector<std::string>& requirements, std::string_view recipe);
// The same for requirements in the values of variables: one with a placeholder behind an operator ("triton=={…}") whose
// value turns out to be empty or malformed. `name` is the variable's.
void check_expanded_requirements(const std::string& name, const std::string& text, const std::string& expanded,
                                 std::string_view recipe);

struct RequirementInputs {
  const recipe::Rules& rules;
  const recipe::SourceFacts& facts;
  std::vector<std::string> needed{};  // published wheels that the recipe's dependencies name
  choose::TorchChoice torch{};
};
// What goes into the build environment, as requirements: the recipe's first, then the source's own that the recipe does
// not replace, drop or take from the machine, then torch.
std::vector<std::string> build_requirements(const RequirementInputs& inputs);

// The CUDA toolkit of a step; where it is made from the index's wheels, those are added to the environment's
// requirements. Needs the step's torch. Throws Error where no toolkit can be had.
CudaSpec plan_cuda(const BuildSpec& spec, const recipe::Rules& rules, Toolbox& tools, Locks& locks, Notes& notes,
                   std::vector<std::string>& requirements);

}  // namespace wheelsmith::plan
