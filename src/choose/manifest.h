#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "recipe/recipe.h"
#include "source/bundle/source_manifest.h"
#include "source/worktree/work_tree.h"

// The checkouts that a manifest names.

namespace wheelsmith::choose {

// By its name, else the only recipe whose source is that repository, else the only one with a repository of that name:
// manifests of other tools call torchaudio pytorch_audio. Null where none or several fit.
const recipe::Recipe* manifest_recipe(const source::ManifestProject& project, const recipe::Library& library);

struct ManifestOptions {
  std::string file;                   // of the manifest, for messages
  std::vector<std::string> projects;  // only these; empty: all that have a recipe
  std::filesystem::path into;         // the folder above the checkouts
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
// Throws RequestError for a project that the manifest does not have, and Error where the patches here are not those of
// the manifest, or nothing is left to check out.
ManifestCheckouts choose_manifest(const std::vector<source::ManifestProject>& projects, const recipe::Library& library,
                                  const ManifestOptions& options);

}  // namespace wheelsmith::choose
