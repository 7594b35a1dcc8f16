#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// The values of {placeholders} in a recipe for one step. Build paths are written as ${tree}, ${env}, …; the step's
// process replaces them, so that a key does not depend on the location of the store.
using Placeholders = std::map<std::string, std::string>;

struct PlaceholderInputs {
  const BuildSpec& spec;  // with its source, torch and toolkits
  const recipe::Recipe& recipe;
  const recipe::Rules& rules;
  std::map<std::string, std::string> settings;       // of the recipe, as chosen
  std::map<std::string, std::string> need_versions;  // versions of dependencies, by recipe, if known
  std::vector<FetchSource> fetches;
};
// Throws Error for a setting with a value outside its choices.
Placeholders placeholder_values(const PlaceholderInputs& inputs);

// The folder of a fetched source, or of the used part of it; "" if it was not fetched.
std::string fetched_place(const recipe::Fetch& fetch, const std::vector<FetchSource>& fetches);

// The label of a variant for local versions: "cpu", "cu130", "rocm".
std::string variant_label(const BuildSpec& spec);

}  // namespace wheelsmith::plan
