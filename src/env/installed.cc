#include "env/installed.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/hash.h"
#include "base/text.h"
#include "pep/metadata/metadata.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "sys/files.h"
#include "toolchain/markers.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t k_most_metadata = 16 << 20, k_most_record = 256 << 20;

// A folder NAME-VERSION.dist-info, a folder NAME.egg-info, or (distutils) a file of that name.
std::optional<InstalledPackage> read_package(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool modern = name.ends_with(".dist-info");
  if (!modern && !name.ends_with(".egg-info")) return std::nullopt;
  std::optional<std::string> metadata;
  for (const fs::path& file : {path / "METADATA", path / "PKG-INFO", path}) {
    metadata = sys::read_file_if_possible(file, k_most_metadata);
    if (metadata) break;
  }
  if (!metadata) return std::nullopt;  // left behind by an interrupted pip
  const auto record = sys::read_file_if_possible(path / (modern ? "RECORD" : "SOURCES.txt"), k_most_record);
  // The description may be malformed in ways that importlib.metadata never reads; the headers precede it. pip's own
  // file has DOS line ends.
  const std::string head = metadata->substr(0, std::min(metadata->find("\n\n"), metadata->find("\n\r\n")));
  const pep::Headers headers = pep::Headers::parse(Bytes(head));
  InstalledPackage package{std::string(trim(headers.get("Name"))), std::string(trim(headers.get("Version"))),
                           to_hex(sha256(Bytes(record ? *record : *metadata)))};
  return package.name.empty() || package.version.empty() ? std::nullopt : std::optional(std::move(package));
}

}  // namespace

std::vector<InstalledPackage> installed_packages(const toolchain::Python& python) {
  std::map<std::string, InstalledPackage> found;
  for (const fs::path& site : python.sites) {
    std::error_code error;
    for (fs::directory_iterator entry(site, error), end; !error && entry != end; entry.increment(error)) {
      if (auto package = read_package(entry->path()))
        found.try_emplace(pep::normalized_name(package->name), std::move(*package));
    }
  }
  std::vector<InstalledPackage> result;
  for (auto& [name, package] : found) result.push_back(std::move(package));
  return result;
}

const InstalledPackage* find_package(const std::vector<InstalledPackage>& packages, std::string_view name) {
  for (const InstalledPackage& package : packages) {
    if (pep::same_name(package.name, name)) return &package;
  }
  return nullptr;
}

UnmetRequirements unmet_requirements(const std::vector<std::string>& requirements,
                                     const std::vector<InstalledPackage>& packages, const toolchain::Python& python) {
  UnmetRequirements unmet;
  for (const std::string& text : requirements) {
    const pep::Requirement requirement = pep::Requirement::parse(text);
    if (!toolchain::applies_to(requirement, python)) continue;
    const InstalledPackage* package = find_package(packages, requirement.name);
    if (package == nullptr) {
      unmet.missing.push_back(text);
      continue;
    }
    const auto version = pep::Version::try_parse(package->version);
    if (version && !pep::contains(requirement.specifiers, *version))
      unmet.other_version.push_back(fmt::format("{} ({} is installed)", text, package->version));
  }
  return unmet;
}

}  // namespace wheelsmith::env
