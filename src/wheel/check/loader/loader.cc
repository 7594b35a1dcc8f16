// Simulates the dynamic loader for an installed folder without loading anything.
//
// Each Python extension and each program is a root: the loader processes its NEEDED names breadth first, searches each
// in the folders of loader_search.cc unless a library of that name is already loaded, and continues with the library
// found. Libraries that no root reaches become roots, because they may be opened with dlopen. A folder of 300 files
// takes about 100,000 lookups, nearly all answered from memory.
//
// Loading done by Python code before an import is invisible here: torch loads nvidia/*/lib with ctypes, and from then
// on these libraries count as loaded. So a library that is in the folder but on no search path is a warning, not an
// error.

#include "wheel/check/loader/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "wheel/check/loader/loader_findings.h"
#include "wheel/check/loader/loader_search.h"
#include "wheel/check/symbols/symbol_index.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

// A hostile folder may contain 100,000 files that all need one another.
constexpr std::size_t k_most_lookups = 10'000'000;
constexpr std::size_t k_most_loaded = 4096;      // for one root
constexpr std::size_t k_most_foreign = 100'000;  // cached paths outside the folder

bool is_loader_itself(std::string_view library) {
  return library.starts_with("ld-linux") || library.starts_with("ld64.so") || library.starts_with("ld-musl") ||
         library.starts_with("linux-vdso");
}

bool is_same_library(const ElfFacts& a, const ElfFacts& b) {
  if (!a.build_id.empty() && !b.build_id.empty()) return a.build_id == b.build_id;
  return a.size == b.size && a.soname == b.soname;
}

class LoaderCheck {
 public:
  LoaderCheck(const std::vector<ElfFacts>& files, const std::string& folder, const LoaderMachine& machine,
              const FileRoles& roles)
      : m_files(files), m_folder(normal_path(folder)), m_machine(machine), m_roles(roles), m_host(host_machine()) {
    for (const ElfFacts& file : files) {
      if (!file.is_dynamic) continue;
      m_own.emplace(absolute(file), &file);
      m_own_by_name.emplace(base_name(file.path), &file);
      m_own_by_name.emplace(library_name(file), &file);
    }
  }

  std::vector<Finding> run() {
    std::set<std::string_view> needed;
    for (const ElfFacts& file : m_files) needed.insert(file.needed.begin(), file.needed.end());
    const auto is_root = [](const ElfFacts& file) { return file.python_extension || is_executable(file); };
    const auto is_unneeded = [&](const ElfFacts& file) { return !needed.contains(library_name(file)); };
    // Each file is reported once, so the most important roots come first.
    for (const bool optional : {false, true}) {
      load_all([&](const ElfFacts& file) { return is_root(file) && m_roles.is_optional(file.path) == optional; });
      load_all([&](const ElfFacts& file) { return is_unneeded(file) && m_roles.is_optional(file.path) == optional; });
    }
    load_all([](const ElfFacts&) { return true; });
    if (m_lookups >= k_most_lookups) append_incomplete();
    return std::move(m_findings);
  }

 private:
  // The libraries that one root loads. A deque, because files point to the one that loaded them.
  struct Process {
    std::deque<LoadedFile> loaded;
    std::unordered_map<std::string_view, const LoadedFile*> by_name;
  };

  [[nodiscard]] std::string absolute(const ElfFacts& file) const { return normal_path(m_folder + "/" + file.path); }

  // The folder may also contain files for other machines; most of its extensions are for this one.
  [[nodiscard]] std::string host_machine() const {
    std::map<std::string_view, std::size_t> votes;
    for (const ElfFacts& file : m_files) {
      if (has_symbols_to_bind(file)) votes[file.machine] += file.python_extension ? 1000 : 1;
    }
    const auto most =
        std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == votes.end() ? "" : std::string(most->first);
  }

  template <class Choice>
  void load_all(Choice is_chosen) {
    for (const ElfFacts& file : m_files) {
      if (!has_symbols_to_bind(file) || file.machine != m_host || m_reached.contains(&file) || !is_chosen(file) ||
          m_roles.is_test(file.path))
        continue;
      load(file);
    }
  }

  void load(const ElfFacts& root) {
    Process process;
    process.loaded.push_back({&root, absolute(root), true, nullptr});
    for (std::size_t at = 0; at < process.loaded.size() && process.loaded.size() < k_most_loaded; ++at) {
      const LoadedFile& file = process.loaded[at];
      if (file.is_own) m_reached.insert(file.facts);
      for (const std::string& library : file.facts->needed) {
        if (is_loader_itself(library) || m_lookups >= k_most_lookups) continue;
        resolve({&file, library, file.is_own ? std::string_view(file.facts->path) : file.path, root.path}, process);
      }
    }
  }

  void resolve(const LibraryNeed& need, Process& process) {
    ++m_lookups;
    const auto loaded = process.by_name.find(need.library);
    const bool is_loaded = loaded != process.by_name.end();
    // A library of the folder itself is correct by any path; only one from outside may be the wrong one.
    if (is_loaded && (loaded->second == nullptr || loaded->second->is_own)) return;
    const std::vector<SearchFolder> folders = search_folders(*need.file, m_machine);
    m_lookups += folders.size();
    const LoadedFile* found = is_loaded ? loaded->second : search(need, folders, process);
    if (found == nullptr) {
      if (m_lookups < k_most_lookups) report_absent(need, folders);
      return;
    }
    if (!found->is_own) judge_foreign(need, *found, folders, is_loaded);
  }

  // The first file of that name for the right machine is loaded.
  const LoadedFile* search(const LibraryNeed& need, const std::vector<SearchFolder>& folders, Process& process) {
    const LoadedFile*& slot = process.by_name[need.library];
    if (need.library.find('/') != std::string_view::npos) {
      for (const std::string& path : expand_run_path(need.library, *need.file)) {
        if (const auto file = at(path)) return slot = &add(*file, need, process);
      }
      return nullptr;
    }
    for (const SearchFolder& folder : folders) {
      const auto file = at(folder.path + "/" + std::string(need.library));
      if (!file) continue;
      if (fits(need, *file)) return slot = &add(*file, need, process);
      if (need.file->is_own) report(wrong_machine(need, *file), need.library);
    }
    return nullptr;
  }

  static bool fits(const LibraryNeed& need, const LoadedFile& file) {
    return file.facts->machine == need.file->facts->machine && file.facts->is_64bit == need.file->facts->is_64bit;
  }

  static const LoadedFile& add(LoadedFile file, const LibraryNeed& need, Process& process) {
    file.loader = need.file;
    const LoadedFile& added = process.loaded.emplace_back(std::move(file));
    if (!added.facts->soname.empty()) process.by_name.try_emplace(added.facts->soname, &added);
    return added;
  }

  std::optional<LoadedFile> at(const std::string& path) {
    ++m_lookups;
    const std::string normal = normal_path(path);
    if (const auto own = m_own.find(normal); own != m_own.end()) return LoadedFile{own->second, normal, true, nullptr};
    if (m_foreign.size() >= k_most_foreign && !m_foreign.contains(normal)) {
      m_lookups = k_most_lookups;
      return std::nullopt;
    }
    auto [known, is_new] = m_foreign.try_emplace(normal);
    if (is_new && m_machine.library_at) {
      known->second = m_machine.library_at(normal);
      if (known->second) {
        // Only names are compared: symbol tables as large as torch's are too expensive to keep.
        known->second->undefined = {};
        known->second->exported = {};
      }
    }
    if (!known->second) return std::nullopt;
    return LoadedFile{&*known->second, normal, false, nullptr};
  }

  void judge_foreign(const LibraryNeed& need, const LoadedFile& found, const std::vector<SearchFolder>& folders,
                     bool was_loaded) {
    if (!need.file->is_own) return;
    if (const auto meant = find_meant(need, found, folders, was_loaded)) {
      report(shadowed(need, found, *meant), need.library);
      return;
    }
    const std::vector<std::string> lacking = versions_lacking(need, *found.facts);
    if (lacking.empty()) return;
    Finding finding = versions_missing(need, found, lacking);
    soften(finding, need);
    report(std::move(finding), need.library);
  }

  // The library that the file's own run path names, in a later folder than the one found.
  std::optional<LoadedFile> find_meant(const LibraryNeed& need, const LoadedFile& found,
                                       const std::vector<SearchFolder>& folders, bool was_loaded) {
    bool is_behind = was_loaded;
    bool by_environment = was_loaded;
    for (const SearchFolder& folder : folders) {
      const std::string path = folder.path + "/" + std::string(need.library);
      if (!is_behind) {
        is_behind = path == found.path;
        by_environment = folder.kind == FolderKind::library_path;
        continue;
      }
      if (folder.kind != FolderKind::rpath && folder.kind != FolderKind::runpath) continue;
      const auto meant = at(path);
      if (!meant || meant->path == found.path || !fits(need, *meant)) continue;
      if (is_same_library(*meant->facts, *found.facts)) return std::nullopt;
      // Of two outside folders, the file's author chose the order; only the environment can change it.
      if (meant->is_own || by_environment) return meant;
    }
    return std::nullopt;
  }

  void report_absent(const LibraryNeed& need, const std::vector<SearchFolder>& folders) {
    const auto [first, last] = m_own_by_name.equal_range(base_name(need.library));
    for (auto own = first; own != last; ++own) {
      if (own->second->machine != need.file->facts->machine) continue;
      report(preload_only(need, own->second->path), need.library);
      return;
    }
    Finding finding = not_found(need, folders);
    if (finding.severity == Severity::error) soften(finding, need);
    report(std::move(finding), need.library);
  }

  // The package works without a plugin, so a plugin that cannot load is not an error.
  void soften(Finding& finding, const LibraryNeed& need) const {
    const std::string root(need.root);
    if (!m_roles.is_optional(root)) return;
    finding.severity = Severity::warning;
    finding.why += fmt::format(" The package works without it: {}.", m_roles.why_optional(root));
  }

  // Once per file and library: many roots lead there.
  void report(Finding finding, std::string_view library) {
    std::string key = finding.id + '\n' + finding.subject + '\n' + std::string(library);
    if (m_reported.insert(std::move(key)).second) m_findings.push_back(std::move(finding));
  }

  void append_incomplete() {
    m_findings.push_back({.id = "loader-incomplete",
                          .severity = Severity::note,
                          .subject = m_folder,
                          .what = "has too many interdependent files; not all were followed",
                          .why = "Some missing libraries may not be reported.",
                          .fix = "Check a smaller folder."});
  }

  const std::vector<ElfFacts>& m_files;
  std::string m_folder;
  const LoaderMachine& m_machine;
  const FileRoles& m_roles;
  std::string m_host;
  std::unordered_map<std::string, const ElfFacts*> m_own;  // by absolute path
  std::multimap<std::string_view, const ElfFacts*> m_own_by_name;
  std::unordered_map<std::string, std::optional<ElfFacts>> m_foreign;  // by absolute path; nodes are stable
  std::set<const ElfFacts*> m_reached;
  std::set<std::string> m_reported;
  std::vector<Finding> m_findings;
  std::size_t m_lookups = 0;
};

}  // namespace

std::vector<Finding> check_loading(const std::vector<ElfFacts>& files, const std::string& folder,
                                   const LoaderMachine& machine, const FileRoles& roles) {
  return LoaderCheck(files, folder, machine, roles).run();
}

}  // namespace wheelsmith::wheel
