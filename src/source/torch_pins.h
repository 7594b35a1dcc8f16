#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::source {

// One line of the file `related_commits`, as ROCm's branches of torch have it.
struct RelatedCommit {
  std::string os, source, project, branch, commit, url;
  std::size_t line = 0;
};

// Strict: six fields with '|' between them; '#' and empty lines are skipped. Throws Error with the number of a line
// that is malformed, and for two records of one project and system that disagree.
std::vector<RelatedCommit> parse_related_commits(std::string_view text, std::string_view file_name);

struct PinnedRef {
  std::string url;    // "" where the place says none: the recipe's own
  std::string ref;    // a commit, a tag or a branch
  std::string where;  // "related_commits:3", ".ci/docker/ci_commit_pins/triton.txt"
};

// What a pin file says: one commit or tag, in its first line that is not empty. Throws Error for anything else.
std::string parse_pin(std::string_view text, std::string_view file_name);

// The text of a file of the checkout that decides; nothing where there is none.
using FileReader = std::function<std::optional<std::string>(const std::string& path)>;

// The record of that project in related_commits (of Linux: "ubuntu", else the only system that has one) if there is
// one, else the first of the files that exists. A file triton_version.txt ("3.5.1") names the branch release/3.5.x.
std::optional<PinnedRef> pinned_by(const std::string& record, const std::vector<std::string>& files,
                                   const FileReader& read);

}  // namespace wheelsmith::source
