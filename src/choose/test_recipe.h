#pragma once

#include <memory>
#include <string>

#include "recipe/recipe.h"
#include "toolchain/description.h"
#include "toolchain/toolchain.h"

// Inputs of the choices: a recipe with everything that a choice may depend on, and a described machine.

namespace wheelsmith::choose {

inline recipe::Recipe vision_recipe() {
  return recipe::parse_recipe(R"(name = "vision"
project = "torchvision"
[source]
git = "https://host/upstream/vision"
ref = "main"
version-file = "version.txt"
[source.refs]
"2.8" = "v0.23.0"
"2.9" = "v0.24.0"
"2.10" = "v0.24.0"
[source.pinned-by]
recipe = "pytorch"
record = "torchvision"
files = [".github/ci_commit_pins/vision.txt"]
[[source.family]]
refs = ["release/*"]
git = "https://host/fork/vision"
patchset = "release"
why = "the fork keeps releases"
[requires]
torch = ">=2.8"
[variant.cpu]
[variant.cuda]
[variant.cuda.archs]
variable = "TORCH_CUDA_ARCH_LIST"
default = "8.0;9.0"
legal = ["8.0", "9.0", "10.0"]
[variant.rocm]
)",
                              "vision.toml");
}

inline toolchain::Host described_host(const std::string& toml) {
  toolchain::Host host;
  host.described = std::make_shared<const toolchain::Description>(toolchain::read_description(toml, "node.toml"));
  host.environment = host.described->environment;
  return host;
}

}  // namespace wheelsmith::choose
