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

// Writes all sources of packages to one file, for a machine without network.

namespace wheelsmith::plan {

struct BundleInputs {
  store::Store& store;
  fetch::Fetcher& fetcher;
  const recipe::Library& recipes;
  source::Repositories& repositories;
  std::string torch;           // --torch; recipes of dependencies may pair it with a ref
  std::string python_version;  // selects the sdists; "" for any
  bool offline = false;
};

// A recipe and the parts to bundle.
struct BundledRecipe {
  const recipe::Recipe* recipe = nullptr;
  std::optional<recipe::Variant> variant;  // nullopt: all
  std::string target;                      // "": all
  std::string origin, ref;                 // "" for a source that is not a git repository
  std::optional<std::vector<std::string>> submodules;
};

// Includes sources that the recipes fetch during the build, and the sources of their dependencies. Both functions throw
// Error if there is nothing to fetch.
source::BundleContents bundle_sources(const std::vector<BundledRecipe>& recipes, const BundleInputs& inputs,
                                      const std::filesystem::path& file);
// Bundles everything that the plan has pinned.
source::BundleContents bundle_sources(const Plan& plan, const BundleInputs& inputs, const std::filesystem::path& file);

}  // namespace wheelsmith::plan
