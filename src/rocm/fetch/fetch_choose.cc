#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "rocm/fetch/fetch.h"

// Selects archives of a run. A named archive that does not exist is an error, because a build without it would fail
// hours later and elsewhere.

namespace wheelsmith::rocm {

namespace {

constexpr std::string_view k_generic = "generic";

using Expressions = std::vector<std::unique_ptr<RE2>>;

Expressions compiled(const std::vector<std::string>& texts) {
  RE2::Options quiet;
  quiet.set_log_errors(false);
  Expressions result;
  for (const std::string& text : texts) {
    auto expression = std::make_unique<RE2>(text, quiet);
    if (!expression->ok())
      throw Error(
          fmt::format("{} is not a valid regular expression: {}", printable(text), printable(expression->error())));
    result.push_back(std::move(expression));
  }
  return result;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Compared without the features: "gfx942" of "gfx942:xnack+".
std::string plain_target(const std::string& text) { return text.substr(0, text.find(':')); }

std::optional<ArtifactName> name_of(const std::string& file) {
  if (!file.ends_with(".tar.zst") && !file.ends_with(".tar.xz")) return std::nullopt;
  // Others may put files there, too.
  return if_valid([&] { return parse_artifact_name(file); }).value_or(std::nullopt);
}

class Chooser {
 public:
  Chooser(const FetchSelection& selection, const Topology* topology)
      : m_selection(selection),
        m_topology(topology),
        m_include(compiled(selection.include)),
        m_exclude(compiled(selection.exclude)),
        m_included(selection.include.size(), false) {
    for (const std::string& target : selection.targets) m_targets.insert(plain_target(target));
  }

  void look_at(const ListedFile& file) {
    const auto name = name_of(file.name);
    if (!name) return;
    ++m_archives;
    if (m_selection.artifacts && !m_selection.artifacts->contains(name->name)) return;
    const std::string target = name->base_target();
    if (m_selection.generic_only ? target != k_generic
                                 : !m_targets.empty() && target != k_generic && !m_targets.contains(target))
      return;
    if (contains(m_selection.exclude_artifacts, name->name)) return;
    m_there[name->name].insert(target);
    m_seen_targets.insert(target);
    if (contains(m_selection.exclude_components, name->component)) return;
    const auto finds = [&](const std::unique_ptr<RE2>& expression) {
      return RE2::PartialMatch(file.name, *expression);
    };
    if (std::any_of(m_exclude.begin(), m_exclude.end(), finds)) return;
    bool included = m_include.empty();
    for (std::size_t i = 0; i < m_include.size(); ++i) {
      if (!finds(m_include[i])) continue;
      included = m_included[i] = true;
    }
    if (!included) return;
    const auto [at, is_new] = m_chosen.try_emplace(name->to_string(), ChosenFile{*name, file.name, file.size});
    if (!is_new && file.name.ends_with(".tar.zst")) at->second = {*name, file.name, file.size};
  }

  std::vector<ChosenFile> finish() {
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < m_include.size(); ++i) {
      if (!m_included[i]) missing.push_back("a file that matches " + printable(m_selection.include[i]));
    }
    for (const std::string& target : m_targets) {
      if (!m_seen_targets.contains(target)) missing.push_back("anything for " + printable(target));
    }
    if (m_selection.artifacts) {
      for (const std::string& name : *m_selection.artifacts) {
        if (!contains(m_selection.exclude_artifacts, name)) look_for(name, missing);
      }
    }
    if (!missing.empty()) throw Error("the run does not have " + join(missing, ", "));
    if (m_chosen.empty())
      throw Error(m_archives == 0 ? "the run has no artifacts" : "the selection matches none of the run's artifacts");
    std::vector<ChosenFile> result;
    for (auto& [name, file] : m_chosen) result.push_back(std::move(file));
    return result;
  }

 private:
  void look_for(const std::string& name, std::vector<std::string>& missing) const {
    const auto found = m_there.find(name);
    const bool known = m_topology != nullptr && m_topology->artifacts.contains(name);
    const bool per_target = known && m_topology->artifacts.at(name).per_target;
    if (per_target && m_selection.generic_only) return;
    if (found == m_there.end()) {
      missing.push_back("the artifact " + printable(name));
      return;
    }
    if (!per_target) return;
    for (const std::string& target : m_targets) {
      if (!found->second.contains(target))
        missing.push_back(fmt::format("the artifact {} for {}", printable(name), printable(target)));
    }
  }

  const FetchSelection& m_selection;
  const Topology* m_topology;
  Expressions m_include, m_exclude;
  std::vector<bool> m_included;
  std::set<std::string> m_targets, m_seen_targets;
  std::map<std::string, std::set<std::string>> m_there;  // artifact to targets
  std::map<std::string, ChosenFile> m_chosen;
  std::size_t m_archives = 0;
};

}  // namespace

std::vector<ChosenFile> choose_files(const std::vector<ListedFile>& files, const FetchSelection& selection,
                                     const Topology* topology) {
  Chooser chooser(selection, topology);
  for (const ListedFile& file : files) chooser.look_at(file);
  return chooser.finish();
}

}  // namespace wheelsmith::rocm
