#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// The ROCm of a step: the machine's if it fits, else one installed from the wheels of --rocm-index, else none and a
// note. Planning works without ROCm.
choose::Chosen<RocmSpec> plan_rocm(const BuildSpec& spec, const recipe::Rules& rules, const choose::Request& request,
                                   const PlanInputs& inputs);

// Its part of the key.
Pairs rocm_digests(const BuildSpec& spec, const toolchain::Host& host);

// Its environment variables; `flags` are for all compilers. ${rocm} is a link in the step's tree.
void add_rocm_variables(std::map<std::string, std::string>& variables, const RocmSpec& rocm, const std::string& flags);
// Its part of PATH, with a ':' before each folder.
std::string rocm_search_path(const RocmSpec& rocm);

// The file in which the machine's SDK lists the libraries that can be preloaded; nullopt if there is no such file or no
// SDK yet. The generated module then uses the list of the SDK that it finds.
std::optional<std::string> sdk_names(const RocmSpec& rocm, const recipe::Preload& preload, const toolchain::Host& host);

}  // namespace wheelsmith::plan
