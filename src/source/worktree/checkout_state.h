#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace wheelsmith::source {

// git's view of a folder that is a checkout of a repository.
struct CheckoutState {
  std::string commit;
  // The commit's tag, otherwise the branch's name on its remote ("release/2.7"), otherwise the local branch, otherwise
  // the commit.
  std::string ref;
  std::string tag;  // of the commit; the newest release of several. "" for none, and for changed files
  std::string
      version;  // of the tag, otherwise the successor of the nearest one: "0.11.1.dev5+g0123abcd"; "" without tags
  bool changed = false;  // files that git tracks differ from the commit
};

// Nothing for a folder that is not the top of a checkout, and when git is missing or cannot read it. `tag_prefix`
// precedes the version in the project's tags.
std::optional<CheckoutState> checkout_state(const std::filesystem::path& folder, const std::string& project,
                                            const std::string& tag_prefix);

// The next version: its last number is incremented, as in setuptools-scm ("0.11.0" -> "0.11.1", "1.8.0rc1" ->
// "1.8.0rc2"). `commits` and `commit` form the rest: "0.11.1.dev5+g0123abcd", with ".dirty" for changed files.
std::string version_after(const std::string& version, const std::string& commits, const std::string& commit,
                          bool changed);

}  // namespace wheelsmith::source
