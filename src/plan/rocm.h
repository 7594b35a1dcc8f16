#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// The ROCm of a step: the machine's where it is the right one, else one made out of the wheels of --rocm-index, else
// none and a note of what is missing; a plan can be made without.
choose::Chosen<RocmSpec> plan_rocm(const BuildSpec& spec, const recipe::Rules& rules, const choose::Request& request,
                                   const PlanInputs& inputs);

// What of it decides the result, for the key.
Pairs rocm_digests(const BuildSpec& spec, const toolchain::Host& host);

// Its variables; `flags` are those of every compiler. ${rocm} stands for the link in the step's own tree.
void add_rocm_variables(std::map<std::string, std::string>& variables, const RocmSpec& rocm, const std::string& flags);
// The part of PATH, with a ':' before each folder.
std::string rocm_search_path(const RocmSpec& rocm);

// The text in which the SDK of a machine lists the libraries that can be preloaded; nothing where there is no such
// file, or no SDK yet: then the generated module asks the SDK that it finds.
std::optional<std::string> sdk_names(const RocmSpec& rocm, const recipe::Preload& preload, const toolchain::Host& host);

}  // namespace wheelsmith::plan
