// Which wheels of an index make up a ROCm.
//
// Users install `rocm[libraries,devel]`, a source distribution: while pip requests its metadata, its setup.py selects
// the required wheels, by the detected GPU or a variable. Resolving it would run foreign code, and pip would cache the
// wheel with the choice baked in. So its wheels are requested directly; all have one version:
//
//   rocm-sdk-core             compiler, HIP, runtimes
//   rocm-sdk-devel            headers, CMake files, links to all the rest, in a tar
//   rocm-sdk-libraries        host libraries, with the device code in
//   rocm-sdk-device-gfx1151     one wheel per processor; or
//   rocm-sdk-libraries-FAMILY host libraries with the device code of one family (older indexes)

#include "env/rocm_wheels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "pep/wheel_name.h"

namespace wheelsmith::env {

namespace {

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class Chooser {
 public:
  Chooser(const RocmWanted& wanted, fetch::Fetcher& index) : m_wanted(wanted), m_index(index) {}

  RocmWheels choose() {
    const std::vector<pep::Version> versions = candidates();
    std::string lacking;
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
      std::string lack;
      if (auto wheels = of_version(*version, lack)) return *wheels;
      if (lacking.empty()) lacking = fmt::format("{} {}", version->to_string(), lack);
    }
    throw Error(versions.empty() ? fmt::format("the index has no rocm-sdk-core{}{}", m_wanted.specifiers,
                                               m_wanted.prereleases ? "" : " other than pre-releases")
                                 : fmt::format("the index has no complete ROCm: {}", lacking));
  }

 private:
  // Versions of a project's wheels; none for a missing project.
  const std::set<pep::Version>& versions_of(const std::string& project, bool must = false) {
    const auto known = m_versions.find(project);
    if (known != m_versions.end()) return known->second;
    std::set<pep::Version> versions;
    // An unreachable index must not count as empty: an older ROCm would be taken for the newest.
    const pep::ProjectPage* page = must ? &m_index.project(project) : m_index.find_project(project);
    if (page != nullptr) versions = wheel_versions(*page);
    return m_versions.emplace(project, std::move(versions)).first->second;
  }

  static std::set<pep::Version> wheel_versions(const pep::ProjectPage& page) {
    std::set<pep::Version> versions;
    for (const pep::ProjectFile& file : page.files) {
      if (!file.is_wheel() || file.yanked) continue;
      const auto name = pep::WheelName::try_parse(file.name);
      const auto version = name ? pep::Version::try_parse(name->version) : std::nullopt;
      if (version) versions.insert(*version);
    }
    return versions;
  }

  std::vector<pep::Version> candidates() {
    const auto specifiers = pep::parse_specifiers(m_wanted.specifiers);
    std::vector<pep::Version> result;
    for (const pep::Version& version : versions_of("rocm-sdk-core", true)) {
      if (version.is_prerelease() && !m_wanted.prereleases) continue;
      if (pep::contains(specifiers, version)) result.push_back(version);
    }
    return result;
  }

  bool take(RocmWheels& wheels, const std::string& project, const pep::Version& version) {
    if (!versions_of(project).contains(version)) return false;
    wheels.requirements.push_back(project + "==" + wheels.version);
    return true;
  }

  std::optional<RocmWheels> of_version(const pep::Version& version, std::string& lack) {
    RocmWheels wheels;
    wheels.version = version.to_string();
    take(wheels, "rocm-sdk-core", version);
    for (const std::string& extra : m_wanted.extras) {
      if (extra == "libraries" || extra.starts_with("device")) continue;
      const std::string project = extra == "profiler" ? "rocm-profiler" : "rocm-sdk-" + extra;
      if (take(wheels, project, version)) continue;
      lack = "has no " + project;
      return std::nullopt;
    }
    if (!has(m_wanted.extras, "libraries")) return wheels;
    RocmWheels split = wheels;
    bool whole = take(split, "rocm-sdk-libraries", version);
    std::vector<std::string> absent;
    for (const std::string& target : m_wanted.targets) {
      if (!whole || take(split, "rocm-sdk-device-" + target, version)) continue;
      absent.push_back("rocm-sdk-device-" + target);
    }
    if (whole && absent.empty()) return split;
    for (const std::string& family : m_wanted.families) {
      if (!take(wheels, "rocm-sdk-libraries-" + family, version)) continue;
      wheels.family = family;
      return wheels;
    }
    lack = whole
               ? "has no " + join(absent, ", ")
               : fmt::format("has neither rocm-sdk-libraries nor rocm-sdk-libraries-FAMILY for {}",
                             m_wanted.families.empty() ? join(m_wanted.targets, ", ") : join(m_wanted.families, ", "));
    return std::nullopt;
  }

  const RocmWanted& m_wanted;
  fetch::Fetcher& m_index;
  std::map<std::string, std::set<pep::Version>> m_versions;
};

}  // namespace

RocmWheels choose_rocm_wheels(const RocmWanted& wanted, fetch::Fetcher& index) {
  return Chooser(wanted, index).choose();
}

}  // namespace wheelsmith::env
