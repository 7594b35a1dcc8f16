#include "cli/wheel/site_packages.h"

#include <string>

namespace wheelsmith::cli {

std::filesystem::path site_packages_of(const std::filesystem::path& folder) {
  std::error_code ignored;  // what cannot be listed is not an environment
  if (!std::filesystem::exists(folder / "pyvenv.cfg", ignored)) return folder;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "lib", ignored)) {
    const std::filesystem::path inside = entry.path() / "site-packages";
    if (entry.path().filename().string().starts_with("python") && std::filesystem::is_directory(inside, ignored)) {
      return inside;
    }
  }
  return folder;
}

}  // namespace wheelsmith::cli
