#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "rocm/fetch/fetch.h"

namespace wheelsmith::rocm {

namespace {

using document::Value;

const document::Table& table_of(const Value& value, std::string_view name, std::string_view file) {
  static const document::Table k_none;
  if (value.is_null()) return k_none;
  if (value.table() == nullptr) throw Error(fmt::format("{}:{}: {} must be a table", file, value.line, name));
  return *value.table();
}

class Collector {
 public:
  Collector(const Topology& topology, std::set<std::string>& found) : m_topology(topology), m_found(found) {}

  void artifact(const std::string& name) {
    std::vector<std::string> open{name};
    while (!open.empty()) {
      const std::string next = std::move(open.back());
      open.pop_back();
      if (!m_found.insert(next).second) continue;
      const auto known = m_topology.artifacts.find(next);
      if (known != m_topology.artifacts.end())
        open.insert(open.end(), known->second.needs.begin(), known->second.needs.end());
    }
  }

  void group(const std::string& name) {
    if (!m_groups.insert(name).second) return;
    for (const auto& [artifact_name, one] : m_topology.artifacts) {
      if (one.group == name) artifact(artifact_name);
    }
  }

 private:
  const Topology& m_topology;
  std::set<std::string>& m_found;
  std::set<std::string> m_groups;
};

}  // namespace

Topology parse_topology(std::string_view text, std::string_view file_name) {
  const std::string file = printable(file_name);
  const Value document(document::parse_toml(text, file));
  Topology topology;
  for (const auto& [name, stage] : table_of(document["build_stages"], "build_stages", file))
    topology.stages[name] = stage["artifact_groups"].texts();
  for (const auto& [name, group] : table_of(document["artifact_groups"], "artifact_groups", file))
    topology.groups[name] = group["artifact_group_deps"].texts();
  for (const auto& [name, one] : table_of(document["artifacts"], "artifacts", file)) {
    Topology::Artifact artifact;
    artifact.group = one["artifact_group"].text_or();
    artifact.needs = one["artifact_deps"].texts();
    artifact.per_target = one["type"].text_or() == "target-specific";
    for (const std::string& platform : one["disable_platforms"].texts()) artifact.not_on.insert(platform);
    // "platform" names the only one.
    if (const std::string only = one["platform"].text_or(); !only.empty()) {
      for (const char* platform : {"linux", "windows"}) {
        if (only != platform) artifact.not_on.insert(platform);
      }
    }
    topology.artifacts[name] = std::move(artifact);
  }
  if (topology.stages.empty() || topology.artifacts.empty())
    throw Error(fmt::format("{}: [build_stages] or [artifacts] is missing", file));
  return topology;
}

std::set<std::string> Topology::inbound(const std::string& stage, const std::string& platform) const {
  const auto found = stages.find(stage);
  if (found == stages.end()) {
    std::vector<std::string> names;
    for (const auto& [name, list] : stages) names.push_back(name);
    const auto near = nearest(stage, names);
    throw Error(fmt::format("unknown stage {}{}", printable(stage),
                            near ? "; did you mean " + *near + "?" : "; the stages are " + join(names, ", ")));
  }
  std::set<std::string> result;
  Collector collect(*this, result);
  std::set<std::string> own(found->second.begin(), found->second.end());
  for (const std::string& group : own) {
    const auto needs = groups.find(group);
    if (needs == groups.end()) continue;
    for (const std::string& other : needs->second) collect.group(other);
  }
  for (const auto& [name, artifact] : artifacts) {
    if (!own.contains(artifact.group)) continue;
    for (const std::string& need : artifact.needs) collect.artifact(need);
  }
  for (const auto& [name, artifact] : artifacts) {
    if (own.contains(artifact.group) || artifact.not_on.contains(platform)) result.erase(name);
  }
  return result;
}

}  // namespace wheelsmith::rocm
