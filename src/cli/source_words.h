#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "choose/source.h"
#include "cli/session.h"
#include "source/worktree/work_tree.h"

// What `checkout`, `patches` and `manifest` share: options that choose a source, as a question to
// choose::choose_source.

namespace wheelsmith::cli {

// The options that choose a source.
struct SourceWords {
  std::string ref, origin, patchset, patch_dir, torch_dir;
  bool no_patches = false, require_related_commit = false;
};

// The folder of patch sets: --patch-dir, else `patches` beside wheelsmith.toml, here, or in or beside the recipes'
// folder.
std::filesystem::path patch_folder(const std::string& given, const settings::Settings& settings);

// "release/2.7" among the sets of a package; throws UsageError with those that there are.
source::PatchSet patch_set_named(const std::filesystem::path& folder, const std::string& package,
                                 const std::string& name);

// The repository, the ref and the patches of a checkout. Throws UsageError.
struct CheckoutSource {
  choose::SourceChoice choice;
  source::PatchSet patches;
  std::vector<std::string> notes;
};
CheckoutSource checkout_source(const recipe::Recipe& recipe, const std::optional<recipe::Variant>& variant,
                               const SourceWords& words, const settings::Settings& settings);

std::optional<recipe::Variant> wanted_variant(const recipe::Recipe& recipe, const settings::Settings& settings);

std::unique_ptr<source::Repositories> make_repositories(Session& session);

}  // namespace wheelsmith::cli
