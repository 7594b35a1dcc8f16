// Packages derive their version from git, and recipes have rules for refs and versions; so git is also asked about a
// user's own folder. Where git is missing, or refuses another user's folder, nothing is known.

#include "source/worktree/checkout_state.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"
#include "source/git/git.h"
#include "source/git/git_command.h"
#include "source/worktree/git_folder.h"

namespace wheelsmith::source {

namespace {

// git's output, without the line end; "" on failure.
std::string ask(const GitFolder& git, const std::vector<std::string>& arguments) {
  const sys::Captured said = git.run(arguments);
  return said.exit.good() ? std::string(trim(said.output)) : "";
}

// Among this commit's tags the one with the newest version.
std::string tag_of_head(const GitFolder& git, const std::string& project) {
  std::optional<pep::Version> newest;
  std::string best;
  const std::string names = ask(git, {"tag", "--points-at", "HEAD"});
  for (const std::string_view name : lines(names)) {
    const auto version = pep::Version::try_parse(version_of_tag(trim(name), project));
    if (!version || (newest && !(*newest < *version))) continue;
    newest = version;
    best = trim(name);
  }
  return best;
}

// Its name on the remote, otherwise the local name; "" for none.
std::string branch_of_head(const GitFolder& git) {
  const std::string upstream = ask(git, {"rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}"});
  if (const std::size_t slash = upstream.find('/'); slash != upstream.npos) return upstream.substr(slash + 1);
  return ask(git, {"symbolic-ref", "--quiet", "--short", "HEAD"});
}

// "v0.11.0-5-g0123abcd": the nearest tag, the commits since, the commit.
std::string version_since_tag(const std::string& described, const std::string& project, bool changed) {
  const std::size_t commit = described.rfind("-g");
  const std::size_t count = commit == described.npos || commit == 0 ? described.npos : described.rfind('-', commit - 1);
  if (count == described.npos) return "";
  const std::string version = version_of_tag(described.substr(0, count), project);
  if (version.empty()) return "";
  return version_after(version, described.substr(count + 1, commit - count - 1), described.substr(commit + 2), changed);
}

}  // namespace

std::string version_after(const std::string& version, const std::string& commits, const std::string& commit,
                          bool changed) {
  const std::size_t digits = version.find_last_not_of("0123456789");
  const std::size_t last = digits == version.npos ? 0 : digits + 1;
  const auto number = to_number(version.substr(last));
  if (!number) return "";
  return fmt::format("{}{}.dev{}+g{}{}", version.substr(0, last), *number + 1, commits, commit,
                     changed ? ".dirty" : "");
}

std::optional<CheckoutState> checkout_state(const std::filesystem::path& folder, const std::string& project,
                                            const std::string& tag_prefix) {
  try {
    if (!GitFolder::is_one(folder)) return std::nullopt;
    const GitFolder git(folder);
    CheckoutState state;
    state.commit = ask(git, {"rev-parse", "--verify", "--quiet", "HEAD^{commit}"});
    if (!is_commit(state.commit)) return std::nullopt;
    state.changed = !git.changed_files().empty();
    const std::string tag = tag_of_head(git, project);
    state.ref = tag.empty() ? branch_of_head(git) : tag;
    if (state.ref.empty()) state.ref = state.commit;
    if (!state.changed) state.tag = tag;
    state.version = version_of_tag(state.tag, project);
    if (state.version.empty())
      state.version =
          version_since_tag(ask(git, {"describe", "--tags", "--long", "--abbrev=8", "--match", tag_prefix + "[0-9]*"}),
                            project, state.changed);
    return state;
  } catch (const Error&) {  // treat it as a folder without a repository
    return std::nullopt;
  }
}

}  // namespace wheelsmith::source
