#include "surgery/repair/library_search.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "wheel/check/loader/loader_search.h"

namespace wheelsmith::surgery {

namespace {

constexpr std::size_t k_most_lookups = 10'000'000;
// Where the wheel would be installed. No machine has such a folder, so no file of the machine is mistaken for a member.
const std::string k_site = "/.wheelsmith-site-packages";

class LoaderWalk {
 public:
  explicit LoaderWalk(const SearchInputs& inputs) : m_inputs(inputs) {
    for (const wheel::ElfFacts& file : *inputs.files) {
      const std::string place = inputs.installed_path(file.path);
      m_members.emplace(k_site + "/" + (place.empty() ? ".elsewhere/" + file.path : place), &file);
      m_names.insert(std::string(base_name(file.path)));
      if (!file.soname.empty()) m_sonames.insert(file.soname);
    }
  }

  LibrarySearch run() {
    for (const auto& [path, file] : m_members) {
      if (file->is_dynamic) load(path, *file);
    }
    return std::move(m_result);
  }

 private:
  // What the loader finds for a name: a file of the wheel, a library of the machine, or nothing.
  struct Answer {
    LibraryNeed need;
    const std::pair<const std::string, const wheel::ElfFacts*>* member = nullptr;
  };

  void load(const std::string& path, const wheel::ElfFacts& root) {
    std::deque<wheel::LoadedFile> loaded = {{&root, path, true, nullptr}};
    std::set<std::string> seen = {path};
    for (std::size_t at = 0; at < loaded.size(); ++at) {
      const wheel::LoadedFile& file = loaded[at];
      std::vector<LibraryNeed>& needs = m_result.needs[file.is_own ? file.facts->path : m_inputs.real_path(file.path)];
      for (const std::string& soname : file.facts->needed) {
        if (++m_lookups > k_most_lookups) throw Error("its files need each other in more ways than can be followed");
        Answer answer = resolve(file, soname);
        if (answer.member != nullptr && seen.insert(answer.member->first).second)
          loaded.push_back({answer.member->second, answer.member->first, true, &file});
        const auto& library = answer.need.library;
        if (library && seen.insert(library->real_path).second)
          loaded.push_back({&library->facts, library->path, false, &file});
        remember(needs, std::move(answer.need));
      }
    }
  }

  // A library may be found only through the RPATH of the file that loads the one that needs it.
  static void remember(std::vector<LibraryNeed>& needs, LibraryNeed need) {
    const auto known = std::ranges::find(needs, need.soname, &LibraryNeed::soname);
    if (known == needs.end())
      needs.push_back(std::move(need));
    else if (!known->inside && !known->library)
      *known = std::move(need);
  }

  Answer resolve(const wheel::LoadedFile& file, const std::string& soname) {
    LibraryNeed need{soname, false, nullptr};
    if (m_inputs.stays_outside(*file.facts, soname)) return {{soname, true, nullptr}};
    if (soname.find('/') != soname.npos) {
      for (const std::string& path : wheel::expand_run_path(soname, file)) need.library = at(path, *file.facts);
      return {std::move(need)};
    }
    for (const wheel::SearchFolder& folder : wheel::search_folders(file, *m_inputs.machine)) {
      ++m_lookups;
      const std::string path = folder.path + "/" + soname;
      const auto member = m_members.find(path);
      if (member != m_members.end() && fits(*member->second, *file.facts)) return {{soname, true, nullptr}, &*member};
      if (path.starts_with(k_site)) continue;
      need.library = at(path, *file.facts);
      if (need.library) break;
    }
    // A file of that name in the wheel that no path leads to: Python code loads it first.
    if (m_names.contains(soname)) return {{soname, true, nullptr}};
    if (!need.library) need.library = search_nearby(file, soname);
    // The same for a file of another name (tables/libblosc2.so), which no run path can lead to: only where the machine
    // has none to copy.
    if (!need.library && m_sonames.contains(soname)) return {{soname, true, nullptr}};
    return {std::move(need)};
  }

  // Folders that the loader does not search, but the build did: the RUNPATH of the files that load this one, and its
  // own folder. Builds that rely on LD_LIBRARY_PATH produce such libraries.
  std::shared_ptr<const ExternalLibrary> search_nearby(const wheel::LoadedFile& file, const std::string& soname) {
    for (const wheel::LoadedFile* by = file.loader; by != nullptr; by = by->loader) {
      for (const std::string& element : by->facts->runpath) {
        for (const std::string& folder : wheel::expand_run_path(element, *by)) {
          if (++m_lookups > k_most_lookups || folder.starts_with(k_site)) continue;
          if (auto library = at(folder + "/" + soname, *file.facts)) return library;
        }
      }
    }
    if (file.is_own) return nullptr;
    return at(file.path.substr(0, file.path.rfind('/') + 1) + soname, *file.facts);
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
  std::set<std::string> m_names;                            // of the wheel's files
  std::set<std::string> m_sonames;                          // that they have
  std::unordered_map<std::string, std::shared_ptr<const ExternalLibrary>> m_known;
  std::map<std::string, std::shared_ptr<const ExternalLibrary>> m_by_real_path;
  std::size_t m_lookups = 0;
  LibrarySearch m_result;
};

}  // namespace

LibrarySearch search_libraries(const SearchInputs& inputs) { return LoaderWalk(inputs).run(); }

}  // namespace wheelsmith::surgery
