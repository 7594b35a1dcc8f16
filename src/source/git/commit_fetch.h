#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "source/git/git_command.h"
#include "source/git/mirrors.h"

namespace wheelsmith::source {

// One commit with its files, without history, from where it is into a bare repository of ours, which the caller holds
// locked.
class CommitFetch {
 public:
  CommitFetch(const GitCommand& git, std::string url, MirrorAddress place, std::filesystem::path repository,
              std::function<bool()> stop);

  // Removes what a fetch that was killed left: its lock files, half packs.
  void tidy() const;
  // Whether the commit is here as a whole.
  [[nodiscard]] bool has(const std::string& commit) const;
  [[nodiscard]] bool has_tag(const std::string& tag) const;
  // Throws Error: it is gone, or the repository cannot be asked.
  void fetch(const std::string& commit, const std::string& ref) const;
  // A tag's own object. What cannot be had is left out: the commit is what counts.
  void fetch_tag(const std::string& tag) const;

 private:
  sys::Captured patiently(std::vector<std::string> arguments, const std::vector<std::string>& refs) const;

  const GitCommand& m_git;
  std::string m_url;
  MirrorAddress m_place;
  std::filesystem::path m_repository;
  std::function<bool()> m_stop;
};

// The refs that the repository in the store keeps them under.
std::string commit_ref(const std::string& commit);
std::string tag_ref(const std::string& tag);
// "v1" out of "refs/tags/v1"; "" for other refs.
std::string tag_of_ref(const std::string& ref);

}  // namespace wheelsmith::source
