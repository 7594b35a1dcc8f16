#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// All that decides a step's result, under names that a reason can tell: "source:src/kernel.cu", "env:CXXFLAGS",
// "tool:nvcc/cicc", "library:cudnn", "requires:setuptools", "patch:0001-fix.patch".
struct KeyInputs {
  const BuildSpec& spec;
  std::string recipe_digest;
  Pairs source_files{};  // of a folder: name, digest
  Pairs tools{};         // name, digest
  Pairs steps{};         // whose wheels are in the build environment: id, key
  std::string torch{};   // of an environment: its version and digest
  // Variables that the user sets. They may be secrets, so the manifest, which is kept, has only their digests.
  std::map<std::string, std::string> secrets{};
};
store::Manifest make_manifest(const KeyInputs& inputs);

// Of what the recipe says for that variant and target.
std::string recipe_digest(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target);

}  // namespace wheelsmith::plan
