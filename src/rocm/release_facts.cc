#include "rocm/release_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "gpu/arch_words.h"
#include "pep/version.h"

namespace wheelsmith::rocm {

namespace {

constexpr const char* k_therock_manifest = "share/therock/therock_manifest.json";
constexpr const char* k_manifest_artifact = "base_lib_generic";

bool is_on(const document::Value& value) {
  if (const bool* flag = value.boolean()) return *flag;
  const std::string text = to_lower(value.text_or());
  return text == "on" || text == "true" || text == "yes" || text == "1" || value.integer_or(0) == 1;
}

// "7.10.0" of "7.10.0-1" and the like; "" if it is not a version.
std::string base_version(std::string_view text) {
  const std::string_view word = trim(text.substr(0, text.find_first_of("-\n ")));
  return pep::Version::try_parse(word) ? std::string(word) : "";
}

}  // namespace

ReleaseManifest read_release_manifest(const Artifacts& artifacts) {
  const auto base = std::find_if(artifacts.all.begin(), artifacts.all.end(), [](const Artifact& artifact) {
    return artifact.name.to_string() == k_manifest_artifact;
  });
  if (base == artifacts.all.end()) {
    throw Error(fmt::format("there is no artifact {}, whose manifest defines the packaging", k_manifest_artifact));
  }
  const auto found = base->entries.find(k_therock_manifest);
  if (found == base->entries.end() || found->second.link) {
    throw Error(fmt::format("{} has no {}, which defines the packaging", k_manifest_artifact, k_therock_manifest));
  }
  const Blob text = found->second.open();
  const document::Value value = document::parse_json(text.bytes.text(), k_therock_manifest);
  ReleaseManifest manifest;
  manifest.kpack = is_on(value["flags"]["KPACK_SPLIT_ARTIFACTS"]);
  for (const char* key : {"rocm-version", "rocm_version", "version"}) {
    if (manifest.version.empty()) manifest.version = base_version(value[key].text_or());
  }
  const auto info = base->entries.find(".info/version");
  if (manifest.version.empty() && info != base->entries.end() && !info->second.link)
    manifest.version = base_version(info->second.open().bytes.clamp(0, 100).text());
  return manifest;
}

std::vector<std::string> targets_of_families(const std::vector<std::string>& families) {
  std::set<std::string> targets;
  std::vector<std::string> known;
  for (const gpu::NamedTargets& family : gpu::amd_families()) {
    known.push_back(family.name);
    known.insert(known.end(), family.members.begin(), family.members.end());
  }
  for (const std::string& word : families) {
    bool found = false;
    for (const gpu::NamedTargets& family : gpu::amd_families()) {
      const bool is_member = std::find(family.members.begin(), family.members.end(), word) != family.members.end();
      if (family.name == word) targets.insert(family.members.begin(), family.members.end());
      if (is_member) targets.insert(word);
      found = found || is_member || family.name == word;
    }
    if (!found) {
      const auto near = nearest(word, known);
      throw Error(
          fmt::format("{} is not a GPU family{}", printable(word), near ? "; did you mean " + *near + "?" : ""));
    }
  }
  return {targets.begin(), targets.end()};
}

}  // namespace wheelsmith::rocm
