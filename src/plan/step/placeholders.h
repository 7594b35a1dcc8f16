#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/plan.h"

namespace wheelsmith::plan {

// What {placeholders} in a recipe stand for in one step. Paths of our own are ${tree}, ${env}, …: the step's process
// puts the real ones in, so that a key does not depend on where the store is.
using Placeholders = std::map<std::string, std::string>;

struct PlaceholderInputs {
  const BuildSpec& spec;  // with its source, torch and toolkits
  const recipe::Recipe& recipe;
  const recipe::Rules& rules;
  std::map<std::string, std::string> settings;       // of the recipe, as chosen
  std::map<std::string, std::string> need_versions;  // of dependencies, by recipe, as far as known
  std::vector<FetchSource> fetches;
};
// Throws Error for a setting that is none of its choices.
Placeholders placeholder_values(const PlaceholderInputs& inputs);

// Where a fetched source, or the part of it that is meant, is; "" for one that was not fetched.
std::string fetched_place(const recipe::Fetch& fetch, const std::vector<FetchSource>& fetches);

// The label of a variant for local versions: "cpu", "cu130", "rocm".
std::string variant_label(const BuildSpec& spec);

}  // namespace wheelsmith::plan
