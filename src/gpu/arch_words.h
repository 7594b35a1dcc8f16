#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Words for architectures that are tables, not rules.

namespace wheelsmith::gpu {

struct NamedTargets {
  std::string name;
  std::vector<std::string> members;
};

// "gfx94X-dcgpu" and the like, as the builds of ROCm name sets of targets.
std::span<const NamedTargets> amd_families();
// "gfx9-4-generic" and the processors that its code runs on.
std::span<const NamedTargets> amd_generics();

// A generation's name as torch reads it in TORCH_CUDA_ARCH_LIST, in lower case, and the list it stands for.
struct Generation {
  std::string_view name;
  std::string_view list;
};
std::span<const Generation> generations();

// Every word that a typing error may have been meant to be.
std::vector<std::string> known_arch_words();

}  // namespace wheelsmith::gpu
