#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// Everything that determines a step's result, under names that a reason can show: "source:src/kernel.cu",
// "env:CXXFLAGS", "tool:nvcc/cicc", "library:cudnn", "requires:setuptools", "patch:0001-fix.patch".
struct KeyInputs {
  const BuildSpec& spec;
  std::string recipe_digest;
  Pairs source_files{};  // of a folder: name, digest
  Pairs tools{};         // name, digest
  Pairs steps{};         // steps with wheels in the build environment: id, key
  std::string torch{};   // torch of an environment: its version and digest
  // Variables set by the user. They may be secrets, so the stored manifest contains only their digests.
  std::map<std::string, std::string> secrets{};
};
store::Manifest make_manifest(const KeyInputs& inputs);

// Digest of the recipe's rules for that variant and target.
std::string recipe_digest(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target);

}  // namespace wheelsmith::plan
