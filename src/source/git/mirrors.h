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

// Its folder.
std::filesystem::path local_folder(const std::string& url);
// The same for all spellings of a URL: no credentials, no trailing '/' or ".git".
std::string repository_name(std::string_view url);

// Where a repository is actually read from.
struct MirrorAddress {
  std::string address;  // passed to git: a URL, or a folder with a repository
  std::string prefix;   // of the mirror in use; "" without one
  bool local = false;

  // The protocols that git may use, in GIT_ALLOW_PROTOCOL format.
  [[nodiscard]] std::string protocols() const;
};

// [mirrors]: URL prefix to URL or folder. The longest prefix wins; it ends at a path component, and a trailing ".git"
// does not matter. A folder may contain the repository as NAME.git or NAME, bare or with files.
class Mirrors {
 public:
  // Folders: "~" is the home folder; relative ones are resolved from the working folder.
  explicit Mirrors(const std::map<std::string, std::string>& map);

  // Throws Error when a folder mirrors the URL and has no such repository; the error names the paths tried.
  [[nodiscard]] MirrorAddress place(const std::string& url) const;
  // The same for every git inside a build, including CMake's FetchContent: GIT_CONFIG_COUNT, GIT_CONFIG_KEY_0, …. Empty
  // without mirrors. Mirrors with a password are left out.
  [[nodiscard]] sys::Environment git_variables() const;
  // Whether any of them is a folder, which may belong to another user.
  [[nodiscard]] bool has_folders() const;

 private:
  struct Mirror {
    std::string prefix;  // without a trailing '/'
    std::string to;      // same; an absolute path or a URL
    bool folder = false;
  };
  [[nodiscard]] const Mirror* mirror_of(const std::string& url) const;

  std::vector<Mirror> m_mirrors;  // the longest prefix first
};

}  // namespace wheelsmith::source
