#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sys/process/process.h"

namespace wheelsmith::source {

// Whether git reads it from this machine: a path or a file: URL.
bool is_local(std::string_view url);

// The folder behind it.
std::filesystem::path local_folder(const std::string& url);
// What is the same for all spellings of a URL: no credentials, no '/' and no ".git" at the end.
std::string repository_name(std::string_view url);

// Where a repository is really asked.
struct MirrorAddress {
  std::string address;  // what git is told: a URL, or a folder that holds a repository
  std::string prefix;   // of the mirror that stands for it; "" when it is asked itself
  bool local = false;

  // Those that git may speak with it, as GIT_ALLOW_PROTOCOL has them.
  [[nodiscard]] std::string protocols() const;
};

// [mirrors]: URL prefix to URL or folder. The longest prefix wins; it ends where a part of the path does, and ".git" at
// the end of a name does not matter. A folder may hold the repository as NAME.git or NAME, bare or with files.
class Mirrors {
 public:
  // Folders: "~" is the home, relative ones count from the working folder.
  explicit Mirrors(const std::map<std::string, std::string>& map);

  // Throws Error where a folder stands for the URL and has no such repository; what was looked for is named.
  [[nodiscard]] MirrorAddress place(const std::string& url) const;
  // The same for every git below a build, CMake's FetchContent too: GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, …. Empty
  // without mirrors. Those with a password are left out.
  [[nodiscard]] sys::Environment git_variables() const;
  // Whether any of them is a folder, which may belong to somebody else.
  [[nodiscard]] bool has_folders() const;

 private:
  struct Mirror {
    std::string prefix;  // without '/' at its end
    std::string to;      // likewise; an absolute path or a URL
    bool folder = false;
  };
  [[nodiscard]] const Mirror* mirror_of(const std::string& url) const;

  std::vector<Mirror> m_mirrors;  // the longest prefix first
};

}  // namespace wheelsmith::source
