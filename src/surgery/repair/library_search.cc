#include "surgery/repair/library_search.h"

#include <deque>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "wheel/check/loader/loader_search.h"

namespace wheelsmith::surgery {

namespace {

constexpr std::size_t k_most_lookups = 10'000'000;
// Where the wheel would be installed. No machine has such a folder, so nothing of the machine is mistaken for a member.
const std::string k_site = "/.wheelsmith-site-packages";

class LoaderWalk {
 public:
  explicit LoaderWalk(const SearchInputs& inputs) : m_inputs(inputs) {
    for (const wheel::ElfFacts& file : *inputs.files) {
      const std::string place = inputs.installed_path(file.path);
      m_members.emplace(k_site + "/" + (place.empty() ? ".elsewhere/" + file.path : place), &file);
      m_names.insert(std::string(base_name(file.path)));
      if (!file.soname.empty()) m_names.insert(file.soname);
    }
  }

  LibrarySearch run() {
    for (const auto& [path, file] : m_members) {
      if (file->is_dynamic) load(path, *file);
    }
    return std::move(m_result);
  }

 private:
  void load(const std::string& path, const wheel::ElfFacts& root) {
    std::deque<wheel::LoadedFile> loaded = {{&root, path, true, nullptr}};
    std::set<std::string> seen;  // real paths of libraries
    for (std::size_t at = 0; at < loaded.size(); ++at) {
      const wheel::LoadedFile& file = loaded[at];
      const std::string id = file.is_own ? file.facts->path : m_inputs.real_path(file.path);
      const auto [entry, is_new] = m_result.needs.try_emplace(id);
      if (!is_new && at == 0) entry->second.clear();  // as a root it decides for itself
      const bool record = is_new || at == 0;
      for (const std::string& soname : file.facts->needed) {
        if (++m_lookups > k_most_lookups) throw Error("its files need each other in more ways than can be followed");
        LibraryNeed need = resolve(file, soname);
        if (need.library && seen.insert(need.library->real_path).second)
          loaded.push_back({&need.library->facts, need.library->path, false, &file});
        if (record) entry->second.push_back(std::move(need));
      }
    }
  }

  LibraryNeed resolve(const wheel::LoadedFile& file, const std::string& soname) {
    LibraryNeed need{soname, false, nullptr};
    if (m_inputs.stays_outside(*file.facts, soname)) {
      need.inside = true;
      return need;
    }
    if (soname.find('/') != soname.npos) {
      for (const std::string& path : wheel::expand_run_path(soname, file)) need.library = at(path, *file.facts);
      return need;
    }
    for (const wheel::SearchFolder& folder : wheel::search_folders(file, *m_inputs.machine)) {
      ++m_lookups;
      const std::string path = folder.path + "/" + soname;
      if (const auto member = m_members.find(path); member != m_members.end() && fits(*member->second, *file.facts)) {
        need.inside = true;
        return need;
      }
      if (path.starts_with(k_site)) continue;
      need.library = at(path, *file.facts);
      if (need.library) break;
    }
    // A file of that name in the wheel that no path leads to: Python code loads it first.
    if (m_names.contains(soname)) return {soname, true, nullptr};
    return need;
  }

  static bool fits(const wheel::ElfFacts& library, const wheel::ElfFacts& by) {
    return library.machine == by.machine && library.is_64bit == by.is_64bit;
  }

  std::shared_ptr<const ExternalLibrary> at(const std::string& path, const wheel::ElfFacts& by) {
    auto [known, is_new] = m_known.try_emplace(path);
    if (is_new) {
      if (auto facts = m_inputs.machine->library_at(path)) {
        const std::string real = m_inputs.real_path(path);
        auto& shared = m_by_real_path[real];
        if (!shared) shared = std::make_shared<const ExternalLibrary>(ExternalLibrary{path, real, std::move(*facts)});
        known->second = shared;
      }
    }
    return known->second && fits(known->second->facts, by) ? known->second : nullptr;
  }

  const SearchInputs& m_inputs;
  std::map<std::string, const wheel::ElfFacts*> m_members;  // by installed path
  std::set<std::string> m_names;
  std::unordered_map<std::string, std::shared_ptr<const ExternalLibrary>> m_known;
  std::map<std::string, std::shared_ptr<const ExternalLibrary>> m_by_real_path;
  std::size_t m_lookups = 0;
  LibrarySearch m_result;
};

}  // namespace

LibrarySearch search_libraries(const SearchInputs& inputs) { return LoaderWalk(inputs).run(); }

}  // namespace wheelsmith::surgery
