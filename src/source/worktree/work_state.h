#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "document/value.h"
#include "source/git/ref_kind.h"

namespace wheelsmith::source {

struct AppliedPatch {
  std::string part, name, sha256;
  bool hipified = false;

  friend bool operator==(const AppliedPatch&, const AppliedPatch&) = default;
};

// One repository of a checkout as we left it.
struct PartState {
  std::string path;      // "" for the root
  std::string name;      // of the submodule
  std::string upstream;  // the fetched commit
  std::string made;      // HEAD: with patches and hipify
  std::string worked;    // for uncommitted hipify: a commit of the resulting files; otherwise ""
};

// The state of a checkout, in .git/wheelsmith.json of its root: it distinguishes the user's own commits from ours.
struct WorkState {
  std::string recipe, variant, origin, ref, commit, version, patchset;
  RefKind ref_kind = RefKind::commit;
  std::optional<std::vector<std::string>> submodules;  // wanted; nothing: all
  std::string hipify;                                  // the script; "" if not run
  bool commit_hipify = true;
  std::vector<AppliedPatch> patches;
  std::vector<PartState> parts;  // the root first

  [[nodiscard]] const PartState* part(const std::string& path) const;
  // Whether a checkout that wants `other` would be unchanged.
  [[nodiscard]] bool same_request(const WorkState& other) const;
  [[nodiscard]] document::Value to_value() const;
};

// Nothing for a folder that is not ours (or whose record cannot be read).
std::optional<WorkState> read_work_state(const std::filesystem::path& root);
void write_work_state(const std::filesystem::path& git_folder, const WorkState& state);

}  // namespace wheelsmith::source
