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
// The same for requirements in the values of variables: one with a placeholder after an operator ("triton=={…}") may
// become empty or malformed. `name` is the variable's.
void check_expanded_requirements(const std::string& name, const std::string& text, const std::string& expanded,
                                 std::string_view recipe);

struct RequirementInputs {
  const recipe::Rules& rules;
  const recipe::SourceFacts& facts;
  std::vector<std::string> needed{};  // published wheels of the recipe's dependencies
  choose::TorchChoice torch{};
};
// The requirements of the build environment: the recipe's first, then those of the source that the recipe does not
// replace, drop or take from the machine, then torch.
std::vector<std::string> build_requirements(const RequirementInputs& inputs);

// The CUDA toolkit of a step. If it is installed from wheels, they are added to the environment's requirements. Needs
// the step's torch. Throws Error if no toolkit is available.
CudaSpec plan_cuda(const BuildSpec& spec, const recipe::Rules& rules, Toolbox& tools, Locks& locks, Notes& notes,
                   std::vector<std::string>& requirements);

}  // namespace wheelsmith::plan
