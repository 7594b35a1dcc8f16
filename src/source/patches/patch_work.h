#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "source/patches/patch_set.h"
#include "source/worktree/work_state.h"

// Converts the commits of a checkout to a patch set, and back: `patches save`, `list` and `apply`.

namespace wheelsmith::source {

// Where `patches` is searched for; empty folders are skipped.
struct PatchFolderSearch {
  std::filesystem::path project_folder;  // of a wheelsmith.toml that the user trusts
  std::filesystem::path current_folder;
  std::filesystem::path recipe_folder;  // the user's recipes: in it, or beside it
};
struct PatchFolder {
  std::filesystem::path path;
  bool only_found = false;  // in the current folder, without proof that it is the user's own
};
// The first existing one, in the order of the members above; if none exists, the first.
PatchFolder find_patch_folder(const PatchFolderSearch& search);

// "release/2.7" among the sets of a package. Throws a RequestError that lists the available sets.
PatchSet patch_set_named(const std::filesystem::path& patch_folder, const std::string& package,
                         const std::string& name);

struct PatchWork {
  std::filesystem::path checkout;
  std::filesystem::path patch_folder;  // of all packages and sets
  std::string patchset;                // "": the checkout's own set, otherwise its ref
};

struct SavedSet {
  std::string patchset;
  std::filesystem::path folder;
  SavedPatches files;
};
// Both throw RequestError for a folder that is not a checkout and for an invalid patch set name.
SavedSet save_patch_set(const PatchWork& work);

struct AppliedSet {
  std::string patchset;
  std::vector<std::string> patches;
};
AppliedSet apply_patch_set(const PatchWork& work);

struct ListedPatch {
  std::string part, name, sha256;
  bool hipified = false;
  std::optional<bool> applied;  // nothing: no checkout to compare with
};
struct ListedSet {
  std::string name;
  std::filesystem::path folder;
  std::vector<ListedPatch> patches;
};
struct PatchSetList {
  std::string package;
  std::filesystem::path patch_folder;
  std::vector<ListedSet> sets;
};
// The sets of a package, or only `patchset`. `checkout` is the state of its checkout.
PatchSetList list_patch_sets(const std::string& package, const std::optional<WorkState>& checkout,
                             const std::filesystem::path& patch_folder, const std::string& patchset);

}  // namespace wheelsmith::source
