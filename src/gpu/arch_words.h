#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

// Names of architectures that come from tables, not rules.

namespace wheelsmith::gpu {

struct NamedTargets {
  std::string name;
  std::vector<std::string> members;
};

// "gfx94X-dcgpu" and similar: the names of target sets in ROCm builds.
std::span<const NamedTargets> amd_families();
// "gfx9-4-generic" and the processors that its code runs on.
std::span<const NamedTargets> amd_generics();

// A generation's name as in TORCH_CUDA_ARCH_LIST, in lower case, and its expansion.
struct Generation {
  std::string_view name;
  std::string_view list;
};
std::span<const Generation> generations();

// All known words, for suggestions.
std::vector<std::string> known_arch_words();

}  // namespace wheelsmith::gpu
