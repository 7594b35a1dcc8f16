#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recipe/recipe.h"
#include "source/bundle/source_manifest.h"
#include "source/worktree/work_tree.h"

// The checkouts described by a manifest.

namespace wheelsmith::choose {

// Finds the recipe of a project: by its name, else the only recipe with that repository, else the only one with a
// repository of that name (manifests of other tools call torchaudio pytorch_audio). Null if none or several match.
const recipe::Recipe* manifest_recipe(const source::ManifestProject& project, const recipe::Library& library);

struct ManifestOptions {
  std::string file;                   // path of the manifest, for messages
  std::vector<std::string> projects;  // only these; empty: all that have a recipe
  std::filesystem::path into;         // parent folder of the checkouts
  std::filesystem::path patch_folder;
  std::filesystem::path python;
  bool offline = false;
};

struct ManifestCheckout {
  source::ManifestProject project;
  source::CheckoutRequest request;
};
struct ManifestCheckouts {
  std::vector<ManifestCheckout> checkouts;
  std::vector<std::string> left_out;  // projects without a recipe
};
// Throws RequestError for a project that is not in the manifest, and Error if the local patches differ from those of
// the manifest or nothing is left to check out.
ManifestCheckouts choose_manifest(const std::vector<source::ManifestProject>& projects, const recipe::Library& library,
                                  const ManifestOptions& options);

}  // namespace wheelsmith::choose
