#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "source/git/repositories.h"

namespace wheelsmith::source {

// Those of a commit in a repository of the store: .gitmodules and the commit's own entries must both know them. Throws
// Error for names and folders that lead anywhere else.
std::vector<Submodule> read_submodules(const GitCommand& git, const std::filesystem::path& repository,
                                       const std::string& url, const std::string& commit);

// "../b.git" of https://host/x/a.git is https://host/x/b.git. Throws Error when it climbs past the host.
std::string submodule_url(const std::string& parent, const std::string& url);

// Which submodules are asked for: by folders from the top of the checkout. Nothing: all.
class WantedFolders {
 public:
  explicit WantedFolders(const std::optional<std::vector<std::string>>& folders);

  // Whether it, something above it or something below it is wanted.
  [[nodiscard]] bool takes(const std::string& path);
  // Throws Error for a folder that none of those seen by takes() is in; with `last` false, what may still turn up
  // inside of one that was taken is passed over.
  void check(bool last) const;

 private:
  bool m_all = false;
  std::vector<std::string> m_folders;
  std::set<std::string> m_found;    // of m_folders
  std::vector<std::string> m_seen;  // paths
};

}  // namespace wheelsmith::source
