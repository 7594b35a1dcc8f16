#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/session.h"
#include "source/worktree/work_tree.h"

// What `checkout`, `patches` and `manifest` share: from a recipe and the words of the command line to one exact
// request.

namespace wheelsmith::cli {

// The words that choose a source.
struct SourceWords {
  std::string ref, origin, patchset, patch_dir, torch_dir;
  bool no_patches = false, require_related_commit = false;
};

const recipe::Recipe& recipe_named(const recipe::Library& library, const std::string& name);

// The folder of patch sets: --patch-dir, else `patches` beside wheelsmith.toml, here, or in or beside the recipes'
// folder.
std::filesystem::path patch_folder(const std::string& given, const settings::Settings& settings);

// "release/2.7" among the sets of a package; throws UsageError with those that there are.
source::PatchSet patch_set_named(const std::filesystem::path& folder, const std::string& package,
                                 const std::string& name);

// Which repository at which ref, and why that one.
struct SourceChoice {
  std::string origin, ref, why;
  source::PatchSet patches;
  std::vector<std::string> notes;
};
SourceChoice choose_source(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                           const SourceWords& words, const settings::Settings& settings);

// What the variant (or, where none is named, any variant) needs of it.
recipe::Checkout checkout_rules(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                                const std::string& target, const std::string& ref);

std::optional<recipe::Variant> wanted_variant(const recipe::Recipe& recipe, const settings::Settings& settings);

// The version of a checkout, by the recipe's file or by its tag; "" where neither tells.
std::string version_of(const recipe::Recipe& recipe, const std::string& ref, const source::GitFolder& git);

std::unique_ptr<source::Repositories> make_repositories(Session& session);

}  // namespace wheelsmith::cli
