#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fetch/fetch.h"
#include "plan/plan.h"
#include "recipe/recipe.h"
#include "source/bundle/source_bundle.h"
#include "source/git/repositories.h"
#include "store/store.h"

// All sources of packages as one file, for a machine without network.

namespace wheelsmith::plan {

struct BundleInputs {
  store::Store& store;
  fetch::Fetcher& fetcher;
  const recipe::Library& recipes;
  source::Repositories& repositories;
  std::string torch;           // --torch: the recipes of dependencies may pair a ref with it
  std::string python_version;  // whose sdists are chosen; "" for any
  bool offline = false;
};

// A recipe and what of it is bundled.
struct BundledRecipe {
  const recipe::Recipe* recipe = nullptr;
  std::optional<recipe::Variant> variant;  // nothing: all
  std::string target;                      // "": all
  std::string origin, ref;                 // "" for a source that is not a git repository
  std::optional<std::vector<std::string>> submodules;
};

// With what the recipes fetch while they are built, and the sources of the recipes they need. Both throw Error where
// there is nothing to fetch.
source::BundleContents bundle_sources(const std::vector<BundledRecipe>& recipes, const BundleInputs& inputs,
                                      const std::filesystem::path& file);
// Everything that the plan has pinned.
source::BundleContents bundle_sources(const Plan& plan, const BundleInputs& inputs, const std::filesystem::path& file);

}  // namespace wheelsmith::plan
