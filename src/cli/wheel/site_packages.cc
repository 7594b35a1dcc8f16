#include "cli/wheel/site_packages.h"

#include <algorithm>
#include <string>

namespace wheelsmith::cli {

namespace {

// "lib/python3.12/site-packages" below a prefix; nothing if there is none.
std::filesystem::path site_packages_below(const std::filesystem::path& prefix) {
  std::error_code ignored;  // what cannot be listed is not an environment
  for (const auto& entry : std::filesystem::directory_iterator(prefix / "lib", ignored)) {
    const std::filesystem::path inside = entry.path() / "site-packages";
    if (entry.path().filename().string().starts_with("python") && std::filesystem::is_directory(inside, ignored))
      return inside;
  }
  return {};
}

bool has_packages(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::directory_iterator entries(folder, ignored);
  return std::any_of(begin(entries), end(entries),
                     [](const auto& entry) { return entry.path().extension() == ".dist-info"; });
}

}  // namespace

std::filesystem::path site_packages_of(const std::filesystem::path& folder) {
  std::error_code ignored;
  const bool is_virtual = std::filesystem::exists(folder / "pyvenv.cfg", ignored);
  if (!is_virtual && has_packages(folder)) return folder;
  const std::filesystem::path inside = site_packages_below(folder);
  return inside.empty() ? folder : inside;
}

}  // namespace wheelsmith::cli
