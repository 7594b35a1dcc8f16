#include "wheel/read/libraries.h"

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

// Real closures have a few dozen files (torch: 40). A hostile wheel of 100,000 files that all need one another must not
// cost 100,000 times 100,000.
constexpr std::size_t k_most_files = 1000;
constexpr std::size_t k_most_names = 10000;

}  // namespace

Libraries::Libraries(const std::vector<ElfFacts>& own, const std::vector<Provider>& against,
                     const std::vector<Provider>& around)
    : m_own(own.size()) {
  for (const ElfFacts& file : own) m_files.push_back(&file);
  for (const std::vector<Provider>* providers : {&against, &around}) {
    for (const Provider& provider : *providers) {
      for (const ElfFacts& file : provider.files) {
        m_files.push_back(&file);
        m_provider_of.push_back(&provider);
      }
    }
  }
  for (Id id = 0; id < m_files.size(); ++id) {
    if (!m_files[id]->is_dynamic) continue;
    const std::string_view base = base_name(m_files[id]->path);
    m_by_name[base].push_back(id);
    const std::string_view soname = m_files[id]->soname;
    if (!soname.empty() && soname != base) m_by_name[soname].push_back(id);
  }
}

std::string_view Libraries::provider_name(Id id) const {
  return is_own(id) ? std::string_view() : m_provider_of[id - m_own]->name;
}

Provider::Kind Libraries::kind(Id id) const {
  return is_own(id) ? Provider::Kind::given : m_provider_of[id - m_own]->kind;
}

std::vector<Libraries::Id> Libraries::find(std::string_view library, const ElfFacts& asking) const {
  const auto named = m_by_name.find(base_name(library));
  if (named == m_by_name.end()) return {};
  std::vector<Id> found;
  for (const Id id : named->second) {
    // Ids of own files come first, so libraries of the wheel are reached before others.
    if (!is_own(id) && !found.empty() && is_own(found.front())) break;
    if (m_files[id]->machine == asking.machine) found.push_back(id);
    if (found.size() == k_most_files) break;
  }
  return found;
}

Libraries::Closure Libraries::closure(Id id) const {
  Closure closure{.files = {id}, .missing = {}};
  std::unordered_set<Id> seen = {id};
  std::unordered_set<std::string_view> names;
  for (std::size_t at = 0; at < closure.files.size(); ++at) {
    const ElfFacts& file = *m_files[closure.files[at]];
    for (const std::string& needed : file.needed) {
      if (names.contains(needed)) continue;
      if (names.size() == k_most_names || closure.files.size() >= k_most_files) {
        closure.complete = false;
        break;
      }
      names.insert(needed);
      const std::vector<Id> found = find(needed, file);
      if (found.empty()) closure.missing.push_back(needed);
      for (const Id other : found) {
        if (seen.insert(other).second) closure.files.push_back(other);
      }
    }
    if (!closure.complete) break;
  }
  std::sort(closure.missing.begin(), closure.missing.end());
  return closure;
}

}  // namespace wheelsmith::wheel
