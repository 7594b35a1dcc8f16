#include "cli/wheel/site_packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::cli {

namespace {

bool has_packages(const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::directory_iterator entries(folder, ignored);
  return std::any_of(begin(entries), end(entries),
                     [](const auto& entry) { return entry.path().extension() == ".dist-info"; });
}

// "lib/python3.12/site-packages" below a prefix; nothing if there is none. Of several Pythons the one with packages.
std::filesystem::path site_packages_below(const std::filesystem::path& prefix) {
  std::error_code ignored;                                       // what cannot be listed is not an environment
  std::map<std::filesystem::path, std::filesystem::path> found;  // conda has lib/python3.1 as a link to lib/python3.12
  for (const auto& entry : std::filesystem::directory_iterator(prefix / "lib", ignored)) {
    const std::filesystem::path inside = entry.path() / "site-packages";
    if (entry.path().filename().string().starts_with("python") && std::filesystem::is_directory(inside, ignored))
      found.emplace(std::filesystem::weakly_canonical(inside, ignored), inside);
  }
  if (found.empty()) return {};
  const std::filesystem::path first = found.begin()->second;
  std::erase_if(found, [](const auto& one) { return !has_packages(one.second); });
  if (found.size() > 1)
    throw Error(fmt::format("{} has packages of several Pythons; name one of them, for example {}",
                            printable(prefix.string()), printable(found.begin()->second.string())));
  return found.empty() ? first : found.begin()->second;
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
