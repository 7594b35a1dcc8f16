// Which files are in which index.
//
// The main index has all of them. A sub-index is for one target: it has the files built for that target and all
// target-independent ones, so that it is sufficient to install from. The file name gives the target: a GPU family at
// the end of the project name, or an accelerator in the local version.
//
// Folders uploaded by CI have the layout {run}-{platform}/python/{group}: files in python/ are for all groups, and
// several groups may have files with the same name and different contents. Each group is a separate index at its own
// path. In the main index the newest run wins.

#include "index/indexes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "gpu/arch_words.h"

namespace wheelsmith::index {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// "12345-linux/python/gfx942" -> run 12345, its folder "12345-linux/python", group "gfx942".
struct Upload {
  std::uint64_t run = 0;
  std::string folder;
  std::string group;
};

std::optional<Upload> upload_of(std::string_view folder) {
  const std::vector<std::string_view> parts = split(folder, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::size_t dash = parts[i].find('-');
    const auto run = to_number(parts[i].substr(0, dash));
    if (!run || dash == std::string_view::npos || dash + 1 == parts[i].size() || parts[i + 1] != "python") continue;
    Upload upload;
    upload.run = *run;
    upload.folder = folder.substr(0, static_cast<std::size_t>(parts[i + 1].end() - folder.begin()));
    if (i + 2 < parts.size()) upload.group = parts[i + 2];
    return upload;
  }
  return std::nullopt;
}

// Of files with the same name, the one listed: of the newest run, else the first by path.
bool holds_before(const File& a, const File& b) {
  const auto run_a = upload_of(a.folder);
  const auto run_b = upload_of(b.folder);
  if (run_a && run_b && run_a->run != run_b->run) return run_a->run > run_b->run;
  return a.path() < b.path();
}

class Collector {
 public:
  explicit Collector(const Catalogue& catalogue) : m_catalogue(catalogue) {}

  Index collect(std::string place, bool lists_files, const std::vector<const File*>& files,
                std::vector<Finding>* findings) const {
    std::map<std::string, std::vector<const File*>> projects;
    for (const File* file : files) projects[file->parts.project].push_back(file);
    Index index{std::move(place), lists_files, {}};
    index.projects.reserve(projects.size());
    for (auto& [name, members] : projects) {
      std::sort(members.begin(), members.end(), [](const File* a, const File* b) {
        const auto order = a->parts.parsed <=> b->parts.parsed;
        if (order != 0) return order > 0;
        // 1.0 and 1.0.0 are equal, but the page has a part for each.
        if (a->parts.version != b->parts.version) return a->parts.version < b->parts.version;
        return a->name != b->name ? a->name < b->name : holds_before(*a, *b);
      });
      drop_doubles(members, findings);
      const auto status = m_catalogue.control.projects.find(name);
      // PEP 792: quarantined projects are not offered.
      if (status != m_catalogue.control.projects.end() && status->second.status == ProjectStatus::quarantined)
        members.clear();
      index.projects.push_back({name, std::move(members)});
    }
    return index;
  }

 private:
  static void drop_doubles(std::vector<const File*>& files, std::vector<Finding>* findings) {
    std::vector<const File*> kept;
    for (const File* file : files) {
      if (kept.empty() || kept.back()->name != file->name) {
        kept.push_back(file);
        continue;
      }
      const File& first = *kept.back();
      if (first.facts.sha256 == file->facts.sha256 || findings == nullptr) continue;
      const bool uploads = upload_of(first.folder) && upload_of(file->folder);
      findings->push_back({"index-same-name", uploads ? Severity::note : Severity::error, printable(file->path()),
                           printable(fmt::format("{} has the same name but different contents", first.path())),
                           "an index can list only one of them; the second is not listed",
                           "give each build its own version or build number"});
    }
    files = std::move(kept);
  }

  const Catalogue& m_catalogue;
};

std::set<std::string> members_of(const std::string& family) {
  for (const gpu::NamedTargets& known : gpu::amd_families()) {
    if (known.name == family) return {known.members.begin(), known.members.end()};
  }
  return {family};
}

bool overlap(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& word) { return b.contains(word); });
}

using FilesByWord = std::map<std::string, std::vector<const File*>>;  // "" for files that are for all

void add_variants(const std::vector<const File*>& files, const Collector& collector, std::vector<Index>& indexes) {
  FilesByWord words;
  for (const File* file : files) words[variant_word(file->parts.parsed)].push_back(file);
  const std::vector<const File*> shared = words[""];
  for (const auto& [word, own] : words) {
    if (word.empty()) continue;
    std::vector<const File*> all = own;
    all.insert(all.end(), shared.begin(), shared.end());
    indexes.push_back(collector.collect("by-variant/" + word, false, all, nullptr));
  }
}

void add_families(const std::vector<const File*>& files, const Collector& collector, std::vector<Index>& indexes) {
  FilesByWord words;
  std::map<std::string, std::string> of_project;
  for (const File* file : files) {
    const auto [known, fresh] = of_project.try_emplace(file->parts.project);
    if (fresh) known->second = family_word(file->parts.project);
    words[known->second].push_back(file);
  }
  for (const auto& [word, own] : words) {
    if (word.empty()) continue;
    const std::set<std::string> targets = members_of(word);
    std::vector<const File*> all;
    for (const auto& [other, others] : words) {
      // A family's index also has the wheels of its single targets, and vice versa.
      if (other.empty() || other == word || overlap(targets, members_of(other)))
        all.insert(all.end(), others.begin(), others.end());
    }
    indexes.push_back(collector.collect("by-family/" + word, false, all, nullptr));
  }
}

void add_uploads(const std::vector<const File*>& files, const Collector& collector, std::vector<Index>& indexes) {
  std::map<std::string, std::map<std::string, std::vector<const File*>>> runs;  // folder, group
  for (const File* file : files) {
    if (const auto upload = upload_of(file->folder)) runs[upload->folder][upload->group].push_back(file);
  }
  for (const auto& [folder, groups] : runs) {
    const auto shared = groups.find("");
    for (const auto& [group, own] : groups) {
      std::vector<const File*> all = own;
      if (!group.empty() && shared != groups.end()) all.insert(all.end(), shared->second.begin(), shared->second.end());
      indexes.push_back(collector.collect(group.empty() ? folder : folder + "/" + group, true, all, nullptr));
    }
  }
}

}  // namespace

std::size_t Index::file_count() const {
  std::size_t count = 0;
  for (const Project& project : projects) count += project.files.size();
  return count;
}

std::string family_word(std::string_view project) {
  const std::size_t at = project.find("-gfx");
  if (at == std::string_view::npos) return "";
  const std::string_view rest = project.substr(at + 1);
  for (const gpu::NamedTargets& family : gpu::amd_families()) {
    if (to_lower(family.name) == rest) return family.name;
  }
  const std::string_view word = rest.substr(0, rest.find('-'));
  return word.size() > 4 && is_digit(word[3]) ? std::string(word) : "";
}

std::string variant_word(const pep::Version& version) {
  if (version.local.empty()) return "";
  std::string word = version.local.front();
  const auto digits_behind = [&](std::string_view prefix) {
    std::size_t end = prefix.size();
    while (end < word.size() && is_digit(word[end])) ++end;
    return word.starts_with(prefix) ? end : 0;
  };
  if (word == "cpu" || word == "xpu") return word;
  if (const std::size_t end = digits_behind("cu"); end > 2) return word.substr(0, end);
  if (digits_behind("rocm") <= 4) return "";
  for (std::size_t i = 1; i < version.local.size() && is_digit(version.local[i].front()); ++i) {
    word += "." + version.local[i];
  }
  return word;
}

std::vector<Index> make_indexes(const Catalogue& catalogue, const IndexOptions& options,
                                std::vector<Finding>& findings) {
  std::vector<const File*> files;
  files.reserve(catalogue.files.size());
  for (const File& file : catalogue.files) files.push_back(&file);
  const Collector collector(catalogue);
  std::vector<Index> indexes;
  indexes.push_back(collector.collect("", false, files, &findings));
  std::vector<const File*> chosen;
  for (const Project& project : indexes.front().projects)
    chosen.insert(chosen.end(), project.files.begin(), project.files.end());
  if (options.by_family) add_families(chosen, collector, indexes);
  if (options.by_variant) add_variants(chosen, collector, indexes);
  add_uploads(files, collector, indexes);
  // The top-level folders of sub-indexes must not be projects of the main one.
  for (const Index& index : indexes) {
    const std::string first = index.place.substr(0, index.place.find('/'));
    for (const Project& project : indexes.front().projects) {
      if (!first.empty() && project.name == first)
        throw Error(fmt::format("project {} has the same name as a folder of sub-indexes", project.name));
    }
  }
  return indexes;
}

}  // namespace wheelsmith::index
