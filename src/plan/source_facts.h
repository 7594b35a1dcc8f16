#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// What can be seen in a source; an archive is looked into once, then its facts are remembered by its digest.
recipe::SourceFacts remembered_facts(const source::Pin& pin, const std::string& subfolder, const PlanInputs& inputs);

// The recipe's patches with their texts. Throws Error for one that is not there.
std::vector<source::Patch> read_patches(const recipe::Recipe& recipe, const std::string& patchset,
                                        const PlanInputs& inputs);

}  // namespace wheelsmith::plan
