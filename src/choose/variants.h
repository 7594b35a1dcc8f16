#pragma once

#include <vector>

#include "choose/request.h"
#include "sys/process/process.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// The variants of --variant; else the one implied by --arch and --gpu; else the one of this machine's GPUs; else cpu or
// the recipe's first variant. Throws RequestError if --arch or --gpu names both vendors, contradicts --variant, or
// needs a variant that the only package does not have.
Chosen<std::vector<recipe::Variant>> choose_variants(const Request& request, const recipe::Recipe& recipe,
                                                     const std::vector<toolchain::Gpu>& gpus);

// The requested architectures, else those of this machine's GPUs (for rocm: ROCM_SDK_TARGET_FAMILY first), else the
// recipe's list. One empty list for the CPU and for packages without architectures. Throws Error for architectures that
// the recipe does not accept, RequestError if no requested architecture belongs to the variant.
Chosen<std::vector<gpu::ArchList>> choose_archs(const Request& request, const recipe::Recipe& recipe,
                                                recipe::Variant variant, const std::vector<toolchain::Gpu>& gpus,
                                                const sys::Environment& environment);

// The variant of a recipe when built as a dependency: that of the dependent, or its first variant if it lacks that one.
recipe::Variant dependency_variant(const recipe::Recipe& dependency, recipe::Variant of);

}  // namespace wheelsmith::choose
