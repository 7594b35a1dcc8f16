#include "wheel/check/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "pep/version.h"

namespace wheelsmith::wheel {

namespace {

Finding mismatch(std::string id, std::string subject, std::string what) {
  return {std::move(id),
          Severity::error,
          std::move(subject),
          std::move(what),
          "installers reject the wheel or record it under the wrong name",
          "rebuild it; rename a wheel only with a tool that also rewrites its metadata (`wheelsmith retag`)"};
}

// Compared as versions if both are valid versions (1.0 is 1.0.0), else as text.
bool same_version(const std::string& a, const std::string& b) {
  const auto first = pep::Version::try_parse(a);
  const auto second = pep::Version::try_parse(b);
  return first && second ? *first == *second : a == b;
}

// File names escape '-' in versions as '_'.
std::string unescaped(std::string version) {
  std::replace(version.begin(), version.end(), '_', '-');
  return version;
}

void check_folder_name(const pep::WheelName& name, const std::string& dist_info, std::vector<Finding>& findings) {
  const std::string_view stem = std::string_view(dist_info).substr(0, dist_info.size() - sizeof(".dist-info") + 1);
  const std::size_t dash = stem.find('-');
  const std::string folder_name(stem.substr(0, dash));
  const std::string folder_version(dash == stem.npos ? "" : stem.substr(dash + 1));
  if (pep::normalized_name(folder_name) != pep::normalized_name(name.name) ||
      !same_version(unescaped(folder_version), unescaped(name.version))) {
    findings.push_back(
        mismatch("dist-info-mismatch", dist_info, fmt::format("the file name says {}-{}", name.name, name.version)));
  }
}

void check_metadata_agrees(const pep::WheelName& name, const Distribution& distribution,
                           std::vector<Finding>& findings) {
  const std::string subject = distribution.dist_info + "/METADATA";
  const std::string metadata_name = distribution.name();
  const std::string metadata_version = distribution.version();
  if (!metadata_name.empty() && pep::normalized_name(metadata_name) != pep::normalized_name(name.name)) {
    findings.push_back(mismatch("metadata-name-mismatch", subject,
                                fmt::format("says the name is {}, the file name says {}", metadata_name, name.name)));
  }
  if (!metadata_version.empty() && !same_version(metadata_version, unescaped(name.version))) {
    findings.push_back(
        mismatch("metadata-version-mismatch", subject,
                 fmt::format("says the version is {}, the file name says {}", metadata_version, name.version)));
  }
}

// Whether WHEEL and the file name share a Python and ABI tag with a platform of the same machine. This holds for
// renamed wheels ("linux_x86_64" in WHEEL, manylinux in the name): installers use the file name, and tools that read
// WHEEL later still get the right answer.
bool is_same_in_effect(const std::vector<std::string>& only_name, const std::vector<std::string>& only_file,
                       const std::set<std::string>& by_name, const std::set<std::string>& by_file) {
  std::set<std::string> shared;
  std::set_intersection(by_name.begin(), by_name.end(), by_file.begin(), by_file.end(),
                        std::inserter(shared, shared.end()));
  if (!shared.empty() && only_file.empty()) return true;
  const auto fits = [](const std::string& a, const std::string& b) {
    const std::vector<std::string_view> x = split(a, '-');
    const std::vector<std::string_view> y = split(b, '-');
    if (x.size() != 3 || y.size() != 3 || x[0] != y[0] || x[1] != y[1]) return false;
    return y[2] == "any" || (y[2].starts_with("linux_") && x[2].find("linux") != std::string_view::npos &&
                             x[2].ends_with(y[2].substr(5)));
  };
  return std::all_of(only_name.begin(), only_name.end(),
                     [&](const std::string& name) {
                       return std::any_of(only_file.begin(), only_file.end(),
                                          [&](const std::string& file) { return fits(name, file); });
                     }) &&
         !only_name.empty();
}

void check_tags_agree(const pep::WheelName& name, const Distribution& distribution, std::vector<Finding>& findings) {
  std::set<std::string> by_name;
  std::set<std::string> by_file;
  for (const pep::Tag& tag : name.tags()) by_name.insert(tag.to_string());
  for (const std::string& text : distribution.tags()) {
    // Malformed tags are reported with the WHEEL file itself.
    const auto tags = pep::Tag::try_expand(text);
    for (const pep::Tag& tag : tags.value_or(std::vector<pep::Tag>())) by_file.insert(tag.to_string());
  }
  std::vector<std::string> only_name;
  std::vector<std::string> only_file;
  std::set_difference(by_name.begin(), by_name.end(), by_file.begin(), by_file.end(), std::back_inserter(only_name));
  std::set_difference(by_file.begin(), by_file.end(), by_name.begin(), by_name.end(), std::back_inserter(only_file));
  const std::string subject = distribution.dist_info + "/WHEEL";
  if (!by_file.empty() && (!only_name.empty() || !only_file.empty())) {  // check_wheel_file reports missing tags
    std::vector<std::string> parts;
    if (!only_name.empty()) parts.push_back("only the file name claims " + join(only_name, ", "));
    if (!only_file.empty()) parts.push_back("only WHEEL claims " + join(only_file, ", "));
    const bool harmless = is_same_in_effect(only_name, only_file, by_name, by_file);
    findings.push_back({"tag-mismatch", harmless ? Severity::warning : Severity::error, subject, join(parts, "; "),
                        "installers select by the file name, other tools read WHEEL; one of the two is wrong",
                        "retag it with a tool that also rewrites the metadata (`wheelsmith retag`)"});
  }
  const std::string build = distribution.wheel->get("Build");
  // Tools that rename a wheel do not add Build to WHEEL; installers use the file name.
  if (build != name.build) {
    Finding finding = mismatch("build-mismatch", subject,
                               fmt::format("says build \"{}\", the file name says \"{}\"", build, name.build));
    if (build.empty()) finding.severity = Severity::note;
    findings.push_back(std::move(finding));
  }
}

void check_distribution(const std::optional<pep::WheelName>& name, const Distribution& distribution,
                        std::vector<Finding>& findings) {
  const auto missing = [&](const char* id, const char* file, const char* what) {
    findings.push_back({id, Severity::error, distribution.dist_info + "/" + file, what,
                        "installers reject a wheel without this file", "rebuild it with a PEP 517 backend"});
  };
  for (const std::string& problem : distribution.problems) {
    findings.push_back({"metadata-unreadable", Severity::error, distribution.dist_info, problem,
                        "installers cannot read the package's metadata", "rebuild it with a PEP 517 backend"});
  }
  if (!distribution.metadata && distribution.problems.empty()) missing("metadata-missing", "METADATA", "is missing");
  // Distribution package managers omit WHEEL and RECORD.
  if (!distribution.wheel && distribution.problems.empty() && name)
    missing("wheel-file-missing", "WHEEL", "is missing");
  if (!distribution.has_record && name) missing("record-missing", "RECORD", "is missing");
  if (distribution.metadata) {
    const auto found = pep::check_metadata(*distribution.metadata, distribution.dist_info + "/METADATA");
    findings.insert(findings.end(), found.begin(), found.end());
  }
  if (distribution.wheel) {
    const auto found = pep::check_wheel_file(*distribution.wheel, distribution.dist_info + "/WHEEL");
    findings.insert(findings.end(), found.begin(), found.end());
  }
  if (!name) return;
  check_folder_name(*name, distribution.dist_info, findings);
  check_metadata_agrees(*name, distribution, findings);
  if (distribution.wheel) check_tags_agree(*name, distribution, findings);
}

}  // namespace

std::vector<Finding> check_identity(const std::optional<pep::WheelName>& name,
                                    const std::vector<Distribution>& distributions) {
  std::vector<Finding> findings;
  if (distributions.empty()) {
    // A folder may hold libraries only; an archive must be a wheel.
    findings.push_back({"dist-info-missing", name ? Severity::error : Severity::note, name ? "archive" : "folder",
                        "has no top-level .dist-info folder", "installers reject a wheel without one",
                        "rebuild it with a PEP 517 backend"});
  }
  if (name && distributions.size() > 1) {
    findings.push_back({"dist-info-several", Severity::error, distributions[1].dist_info,
                        fmt::format("has {} top-level .dist-info folders", distributions.size()),
                        "installers reject a wheel that contains two packages", "rebuild it from a clean folder"});
  }
  for (const Distribution& distribution : distributions) check_distribution(name, distribution, findings);
  return findings;
}

}  // namespace wheelsmith::wheel
