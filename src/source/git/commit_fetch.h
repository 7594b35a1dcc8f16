#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "source/git/git_command.h"
#include "source/git/mirrors.h"

namespace wheelsmith::source {

// Fetches one commit with its files, without history, into a bare repository of the store, which the caller has locked.
class CommitFetch {
 public:
  CommitFetch(const GitCommand& git, std::string url, MirrorAddress place, std::filesystem::path repository,
              std::function<bool()> stop);

  // Removes the remains of a killed fetch: its lock files, partial packs.
  void tidy() const;
  // Whether the commit is completely present.
  [[nodiscard]] bool has(const std::string& commit) const;
  [[nodiscard]] bool has_tag(const std::string& tag) const;
  // Throws Error: the commit is gone, or the repository is unreachable.
  void fetch(const std::string& commit, const std::string& ref) const;
  // A tag's own object. Failures are ignored: only the commit is required.
  void fetch_tag(const std::string& tag) const;

 private:
  sys::Captured patiently(std::vector<std::string> arguments, const std::vector<std::string>& refs) const;

  const GitCommand& m_git;
  std::string m_url;
  MirrorAddress m_place;
  std::filesystem::path m_repository;
  std::function<bool()> m_stop;
};

// The refs under which the repository in the store keeps them.
std::string commit_ref(const std::string& commit);
std::string tag_ref(const std::string& tag);
// "v1" out of "refs/tags/v1"; "" for other refs.
std::string tag_of_ref(const std::string& ref);

}  // namespace wheelsmith::source
