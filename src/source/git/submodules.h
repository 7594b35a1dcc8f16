#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "source/git/repositories.h"

namespace wheelsmith::source {

// Submodules of a commit in a stored repository: both .gitmodules and the commit's own entries must list them. Throws
// Error for names and folders that point elsewhere.
std::vector<Submodule> read_submodules(const GitCommand& git, const std::filesystem::path& repository,
                                       const std::string& url, const std::string& commit);

// "../b.git" of https://host/x/a.git is https://host/x/b.git. Throws Error when it climbs past the host.
std::string submodule_url(const std::string& parent, const std::string& url);

// The requested submodules, by folders relative to the top of the checkout. Nothing: all.
class WantedFolders {
 public:
  explicit WantedFolders(const std::optional<std::vector<std::string>>& folders);

  // Whether it, a parent or a nested one is wanted.
  [[nodiscard]] bool takes(const std::string& path);
  // Throws Error for a folder that contains none of those seen by takes(); with `last` false, folders that may still
  // appear inside a selected one are ignored.
  void check(bool last) const;

 private:
  bool m_all = false;
  std::vector<std::string> m_folders;
  std::set<std::string> m_found;    // of m_folders
  std::vector<std::string> m_seen;  // paths
};

}  // namespace wheelsmith::source
