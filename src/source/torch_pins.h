#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::source {

// One line of the file `related_commits` in ROCm's branches of torch.
struct RelatedCommit {
  std::string os, source, project, branch, commit, url;
  std::size_t line = 0;
};

// Strict: six fields separated by '|'; '#' and empty lines are skipped. Throws an Error with the number of a malformed
// line, and for two records of one project and system that disagree.
std::vector<RelatedCommit> parse_related_commits(std::string_view text, std::string_view file_name);

struct PinnedRef {
  std::string url;    // "" for the recipe's own
  std::string ref;    // a commit, a tag or a branch
  std::string where;  // "related_commits:3", ".ci/docker/ci_commit_pins/triton.txt"
};

// The content of a pin file: one commit or tag, in its first non-empty line. Throws Error for anything else.
std::string parse_pin(std::string_view text, std::string_view file_name);

// The text of a file of the relevant checkout; nothing if it is missing.
using FileReader = std::function<std::optional<std::string>(const std::string& path)>;

// The project's record in related_commits (for Linux: "ubuntu", otherwise the only system that has one) if there is
// one, otherwise the first of the files that exists. A file triton_version.txt ("3.5.1") names the branch
// release/3.5.x.
std::optional<PinnedRef> pinned_by(const std::string& record, const std::vector<std::string>& files,
                                   const FileReader& read);

}  // namespace wheelsmith::source
