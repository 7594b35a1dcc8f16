#include "sys/sandbox/system_places.h"

#include <sys/stat.h>

#include <algorithm>

namespace wheelsmith::sys {

namespace {

// pip's configuration may contain an index password.
constexpr std::array<std::string_view, 3> k_with_passwords{"/etc/pip.conf", "/etc/xdg/pip", "/etc/netrc"};

}  // namespace

bool is_for_everybody(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return false;
  const mode_t needed = S_ISDIR(status.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
  return (status.st_mode & needed) == needed &&
         std::find(k_with_passwords.begin(), k_with_passwords.end(), path.string()) == k_with_passwords.end();
}

std::vector<std::filesystem::path> system_places() {
  std::vector<std::filesystem::path> result;
  // The last two: NixOS and Guix, which install all programs and libraries there.
  for (const char* name : {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store",
                           "/nix/var/nix/profiles", "/gnu/store"}) {
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(name, error))) result.emplace_back(name);
  }
  return result;
}

}  // namespace wheelsmith::sys
