#include "source/git/commit_fetch.h"

// A commit counts as present only when its own ref exists: git writes that last, after it has checked that nothing is
// missing. So an interrupted fetch is simply repeated. A server may refuse to serve a commit by its hash; then the ref
// is requested, and finally everything. A server's answer that it has no such commit is accepted.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "source/git/git_failure.h"
#include "source/git/ref_names.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

constexpr int k_tries = 3;

bool is_remains(std::string_view name) {
  return name.ends_with(".lock") || name.ends_with(".keep") || name.starts_with("tmp_");
}

void remove_remains(const fs::path& folder, bool below) {
  std::error_code failed;
  std::vector<fs::path> found, folders;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    if (is_remains(at->path().filename().string()))
      found.push_back(at->path());
    else if (below && at->symlink_status(ignored).type() == fs::file_type::directory)
      folders.push_back(at->path());
  }
  for (const fs::path& path : found) sys::remove_tree(path);
  for (const fs::path& path : folders) remove_remains(path, below);
}

}  // namespace

std::string commit_ref(const std::string& commit) { return "refs/wheelsmith/commits/" + commit; }
std::string tag_ref(const std::string& tag) { return "refs/wheelsmith/tags/" + tag; }

std::string tag_of_ref(const std::string& ref) {
  return ref.starts_with(k_tags) ? ref.substr(k_tags.size()) : std::string();
}

CommitFetch::CommitFetch(const GitCommand& git, std::string url, MirrorAddress place, fs::path repository,
                         std::function<bool()> stop)
    : m_git(git),
      m_url(std::move(url)),
      m_place(std::move(place)),
      m_repository(std::move(repository)),
      m_stop(std::move(stop)) {}

void CommitFetch::tidy() const {
  remove_remains(m_repository, false);
  remove_remains(m_repository / "refs", true);
  remove_remains(m_repository / "objects" / "pack", false);
  remove_remains(m_repository / "objects", false);
}

bool CommitFetch::has(const std::string& commit) const {
  std::error_code ignored;
  if (!fs::exists(m_repository / commit_ref(commit), ignored)) return false;
  return m_git.run({"cat-file", "-e", commit_ref(commit) + "^{tree}"}, m_repository).exit.good();
}

bool CommitFetch::has_tag(const std::string& tag) const {
  return m_git.run({"rev-parse", "-q", "--verify", tag_ref(tag)}, m_repository).exit.good();
}

sys::Captured CommitFetch::patiently(std::vector<std::string> arguments, const std::vector<std::string>& refs) const {
  arguments.insert(arguments.begin(), {"fetch", "-q", "--no-tags", "--no-write-fetch-head", "--update-shallow"});
  arguments.insert(arguments.end(), {"--", m_place.address});
  arguments.insert(arguments.end(), refs.begin(), refs.end());
  for (int retry = 0;; ++retry) {
    sys::Captured result = m_git.run(arguments, m_repository, m_place.protocols());
    if (result.exit.good() || m_place.local || retry + 1 == k_tries || !is_transient(result)) return result;
    pause_before_retry(retry, m_stop);
    tidy();
  }
}

void CommitFetch::fetch_tag(const std::string& tag) const {
  (void)patiently({"--depth=1"}, {"+" + std::string(k_tags) + tag + ":" + tag_ref(tag)});
}

void CommitFetch::fetch(const std::string& commit, const std::string& ref) const {
  const std::string kept = commit_ref(commit);
  const auto keep = [&] {
    return m_git.run({"cat-file", "-e", commit + "^{tree}"}, m_repository).exit.good() &&
           m_git.run({"update-ref", kept, commit}, m_repository).exit.good();
  };
  sys::Captured result = patiently({"--depth=1"}, {"+" + commit + ":" + kept});
  if (result.exit.good() && has(commit)) return;
  const bool gone = is_gone(result);
  if (!gone && is_transient(result)) throw Error(unreachable(m_url, m_place, "commit " + commit, result));
  if (!ref.empty() && !is_commit(ref)) {
    // By now the ref may be at another commit.
    const sys::Captured by_ref = patiently({"--depth=1"}, {"+" + ref + ":refs/wheelsmith/asked"});
    if (by_ref.exit.good() && keep()) return;
  }
  if (!gone) {
    result = patiently({}, {"+refs/heads/*:refs/wheelsmith/heads/*", "+refs/tags/*:refs/wheelsmith/all-tags/*"});
    if (result.exit.good() && keep()) return;
    if (!result.exit.good() && !is_gone(result)) throw Error(unreachable(m_url, m_place, "commit " + commit, result));
  }
  const bool broken = result.errors.find("necessary objects") != std::string::npos ||
                      result.errors.find("expected object") != std::string::npos;
  throw Error(
      fmt::format("{} {} commit {}", shown(m_url, m_place), broken ? "serves wrong objects for" : "has no", commit));
}

}  // namespace wheelsmith::source
