#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/patches/patch_set.h"
#include "source/worktree/work_state.h"

namespace wheelsmith::source {

// The exact sources of a build as a file:
//
//   {"schema_version": 1, "pytorch": {"repo": URL, "commit": …, "branch": …, "version": …, "patchset": …, "patches":
//   […],
//    "submodules": {PATH: COMMIT}, "tree": …, "trees": {PATH: TREE}, …}, …}
//
// TheRock's manifests are of the same form with repo, commit, branch and version only, and are read too.
struct ManifestProject {
  std::string name, repo, commit, branch, version, recipe, variant, patchset, hipify;
  bool commit_hipify = true;
  std::optional<std::vector<std::string>> wanted_submodules;
  std::vector<AppliedPatch> patches;
  std::map<std::string, std::string> submodules;  // path -> commit
  std::string tree;                               // "" if not given
  std::map<std::string, std::string> trees;       // path -> tree
};

// Throws Error "FILE: PROJECT: what is wrong".
std::vector<ManifestProject> parse_manifest(std::string_view text, std::string_view file_name);
std::string to_json(const std::vector<ManifestProject>& projects);

// A checkout's current state. Throws Error when it has more than its record: changes, or commits that are not patches.
ManifestProject project_of(const std::filesystem::path& root);

// Throws Error when the checkout does not match the manifest.
void compare(const ManifestProject& project, const WorkState& state, const std::vector<std::string>& trees);

// Throws Error when a set's patches do not match the manifest.
void compare_patches(const ManifestProject& project, const PatchSet& set);

}  // namespace wheelsmith::source
