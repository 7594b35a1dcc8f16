#pragma once

#include <string>
#include <vector>

#include "plan/plan.h"

// What is chosen where the user left something open. Each choice comes with the sentence that tells it.

namespace wheelsmith::plan {

std::vector<toolchain::Python> choose_pythons(const Request& request, const PlanInputs& inputs);

// Those asked for, else what the GPUs of this machine want, else the recipe's first of cpu, cuda, rocm.
std::vector<recipe::Variant> choose_variants(const Request& request, const recipe::Recipe& recipe,
                                             const std::vector<toolchain::Gpu>& gpus, std::vector<std::string>& notes);

// Those asked for, else the GPUs that are here (for rocm: ROCM_SDK_TARGET_FAMILY first), else the recipe's own list.
// One empty list for the CPU and for packages that take none.
std::vector<gpu::ArchList> choose_archs(const Request& request, const recipe::Recipe& recipe, recipe::Variant variant,
                                        const std::vector<toolchain::Gpu>& gpus, const sys::Environment& environment,
                                        std::vector<std::string>& notes);

// What --source says of a package: by its name, by the project it names, or, where only one package is asked for,
// without a name.
std::optional<source::Override> choose_source(const Request& request, const std::string& package,
                                              const std::string& project);

// The ref that --ref names for it; a name may be left out where only one package is asked for.
std::optional<std::string> user_ref(const Request& request, const std::string& package);
// That one, or the recipe's own.
std::string ref_of(const recipe::Recipe& recipe, const Request& request);

// What --torch says, or the torch that the interpreter has, or the newest that the recipe takes.
TorchChoice choose_torch(const Request& request, const recipe::Rules& rules, recipe::Variant variant,
                         const toolchain::Python& python, const PlanInputs& inputs, std::vector<std::string>& notes);

// Where nobody named a torch: the one that belongs to the ref that is built, if the recipe knows it. The newest is
// often one that the ref has never seen.
void prefer_torch_of_ref(TorchChoice& torch, const recipe::Recipe& recipe, const Request& request,
                         std::vector<std::string>& notes);

// What a lock's torch is: its version, and the CUDA it was built with ("13.0"; "" for a CPU build).
struct LockedTorch {
  std::string version, cuda, hip;
};
LockedTorch locked_torch(const env::Lock& lock);

}  // namespace wheelsmith::plan
