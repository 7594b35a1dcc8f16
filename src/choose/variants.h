#pragma once

#include <vector>

#include "choose/request.h"
#include "sys/process/process.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// Those of --variant; else the one that --arch and --gpu imply; else the one of this machine's GPUs; else cpu or the
// recipe's first variant. Throws RequestError where --arch or --gpu names both vendors, contradicts --variant, or needs
// a variant that the only package does not have.
Chosen<std::vector<recipe::Variant>> choose_variants(const Request& request, const recipe::Recipe& recipe,
                                                     const std::vector<toolchain::Gpu>& gpus);

// Those that were asked for, else the GPUs of this machine (for rocm: ROCM_SDK_TARGET_FAMILY first), else the recipe's
// own list. One empty list for the CPU and for packages that take none. Throws Error for what the recipe does not
// accept, RequestError when nothing that was asked for belongs to the variant.
Chosen<std::vector<gpu::ArchList>> choose_archs(const Request& request, const recipe::Recipe& recipe,
                                                recipe::Variant variant, const std::vector<toolchain::Gpu>& gpus,
                                                const sys::Environment& environment);

// The variant in which a recipe builds a dependency of another: the same, or, where it does not know the GPU, its
// first.
recipe::Variant dependency_variant(const recipe::Recipe& dependency, recipe::Variant of);

}  // namespace wheelsmith::choose
