#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace wheelsmith::source {

// What git says of a folder that is a checkout of a repository.
struct CheckoutState {
  std::string commit;
  // The tag of the commit, else the branch as its remote calls it ("release/2.7"), else the local branch, else the
  // commit.
  std::string ref;
  std::string tag;       // of the commit; of several the newest release. "" for none, and for changed files
  std::string version;   // of the tag, else what follows the nearest one: "0.11.1.dev5+g0123abcd"; "" without tags
  bool changed = false;  // files that git tracks differ from the commit
};

// Nothing for a folder that is not the top of a checkout, and where git is missing or cannot read it. `tag_prefix` is
// what stands before the version in the project's tags.
std::optional<CheckoutState> checkout_state(const std::filesystem::path& folder, const std::string& project,
                                            const std::string& tag_prefix);

// The version after one: its last number is one higher, as setuptools-scm counts ("0.11.0" -> "0.11.1", "1.8.0rc1" ->
// "1.8.0rc2"). `commits` and `commit` make the rest: "0.11.1.dev5+g0123abcd", with ".dirty" for changed files.
std::string version_after(const std::string& version, const std::string& commits, const std::string& commit,
                          bool changed);

}  // namespace wheelsmith::source
