#include "rocm/artifacts.h"

// Artifacts are the output of ROCm's build: one folder (or archive) for each sub-project, component and GPU. Inside, a
// manifest lists base folders, each shaped like an install prefix. Overlaid, they form the SDK.
//
// The input is untrusted: manifest paths must stay inside, links are resolved among the known entries and never by the
// operating system, and an archive's files are written consecutively into a single file, so that none of their names
// reaches the file system.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "rocm/artifact_archive.h"
#include "rocm/layout/package_table.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::rocm {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view k_endings[] = {".tar.zst", ".tar.xz"};  // the first that is there is taken

bool is_word(std::string_view word) {
  return !word.empty() && word.size() <= 100 && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '+' || c == ':';
  });
}

std::string_view without_ending(std::string_view file) {
  for (const std::string_view ending : k_endings) {
    if (file.ends_with(ending)) return file.substr(0, file.size() - ending.size());
  }
  return {};
}

// No link in the path of a base folder may lead out of the artifact.
std::optional<fs::path> base_folder(const fs::path& artifact, const std::string& base) {
  std::error_code error;
  const fs::path root = fs::canonical(artifact, error);
  if (error) sys::throw_sys_error(error.value(), "read", artifact);
  const fs::path folder = fs::canonical(artifact / base, error);
  if (error || !fs::is_directory(folder, error)) return std::nullopt;
  const auto [at, end] = std::mismatch(root.begin(), root.end(), folder.begin(), folder.end());
  if (at != root.end())
    throw Error(fmt::format("{}: {} points outside the artifact", k_artifact_manifest, printable(base)));
  return folder;
}

Artifact read_folder(const fs::path& folder, ArtifactName name, std::vector<Finding>& findings) {
  Artifact artifact{std::move(name), {}};
  const std::string shown = artifact.name.to_string();
  for (const std::string& base : read_artifact_manifest(sys::read_file(folder / k_artifact_manifest, 16 << 20))) {
    const std::optional<fs::path> root = base_folder(folder, base);
    if (!root) continue;  // a base folder in which this slice has nothing
    Entries entries;
    for (const sys::TreeFile& file : sys::list_tree(*root)) {
      entries[file.name] = {*root / file.name, shown,           file.link_target, file.size,
                            file.link,         file.executable, nullptr,          0};
    }
    merge(artifact.entries, entries, findings);
  }
  return artifact;
}

struct Found {
  ArtifactName name;
  fs::path path;
  int rank = 0;  // 0 for a folder, then the endings
};

std::vector<Found> find_artifacts(const fs::path& folder) {
  std::error_code error;
  std::map<std::string, Found> found;
  fs::directory_iterator entries(folder, error);
  if (error) sys::throw_sys_error(error.value(), "read", folder);
  for (const fs::directory_entry& entry : entries) {
    const std::string file = entry.path().filename().string();
    const bool is_folder = entry.is_directory(error);
    if (is_folder && !fs::exists(entry.path() / k_artifact_manifest, error)) continue;
    const std::string_view stem = is_folder ? std::string_view(file) : without_ending(file);
    const std::optional<ArtifactName> name = parse_artifact_name(stem);
    if (!name) continue;
    const int rank = is_folder ? 0 : file.ends_with(k_endings[0]) ? 1 : 2;
    const auto [at, is_new] = found.try_emplace(std::string(stem), Found{*name, entry.path(), rank});
    if (!is_new && rank < at->second.rank) at->second = {*name, entry.path(), rank};
  }
  std::vector<Found> result;
  for (auto& [stem, item] : found) result.push_back(std::move(item));
  return result;
}

bool same_contents(const Entry& a, const Entry& b) {
  if (a.link != b.link) return false;
  if (a.link) return a.link_target == b.link_target;
  if (a.size != b.size || a.executable != b.executable) return false;
  const Blob left = a.open(), right = b.open();
  return left.bytes.text() == right.bytes.text();
}

}  // namespace

std::optional<ArtifactName> parse_artifact_name(std::string_view text) {
  if (const std::string_view stem = without_ending(text); !stem.empty()) text = stem;
  const std::vector<std::string_view> words = split(text, '_');
  if (words.size() != 3 || words[0].empty() || words[1].empty() || words[2].empty()) return std::nullopt;
  for (const std::string_view word : words) {
    if (!is_word(word)) throw Error(fmt::format("{} is not a valid artifact name", printable(text)));
  }
  return ArtifactName{std::string(words[0]), std::string(words[1]), std::string(words[2])};
}

Blob Entry::open() const {
  if (size == 0) return {};
  if (unpacked) return {unpacked, unpacked->bytes.slice(offset, size)};
  return sys::map_file(place);
}

Artifacts read_artifacts(const fs::path& folder, const fs::path& scratch, unsigned threads) {
  const std::vector<Found> found = find_artifacts(folder);
  if (found.empty()) {
    throw Error(
        fmt::format("{}: no artifacts found: expected folders NAME_COMPONENT_TARGET with {}, or archives of them",
                    printable(folder.string()), k_artifact_manifest));
  }
  Artifacts result;
  result.all.resize(found.size());
  std::vector<std::vector<Finding>> findings(found.size());
  parallel_for(found.size(), threads, [&](std::size_t i) {
    try {
      result.all[i] = found[i].rank == 0 ? read_folder(found[i].path, found[i].name, findings[i])
                                         : read_artifact_archive(found[i].path, found[i].name, scratch, findings[i]);
    } catch (const Error& error) {
      throw error.in(printable(found[i].path.filename().string()));
    }
  });
  for (std::vector<Finding>& some : findings) result.findings.insert(result.findings.end(), some.begin(), some.end());
  return result;
}

void merge(Entries& into, const Entries& newer, std::vector<Finding>& findings,
           const std::vector<ConflictRule>& rules) {
  const auto yields = [&](const std::string& path, const Entry& entry) {
    return std::any_of(rules.begin(), rules.end(), [&](const ConflictRule& rule) {
      return entry.artifact.starts_with(rule.yields + "_") &&
             std::any_of(rule.paths.begin(), rule.paths.end(),
                         [&](const std::string& pattern) { return path_matches(pattern, path); });
    });
  };
  for (const auto& [path, entry] : newer) {
    const auto [at, is_new] = into.try_emplace(path, entry);
    if (is_new) continue;
    const bool old_yields = yields(path, at->second), new_yields = yields(path, entry);
    if (new_yields && !old_yields) continue;
    if (old_yields == new_yields && !same_contents(at->second, entry)) {
      findings.push_back({"rocm-conflict", Severity::warning, path,
                          fmt::format("{} and {} have different files of this name; the one of {} is used",
                                      at->second.artifact, entry.artifact, entry.artifact),
                          "the package can contain only one of them; code that relies on the other gets the wrong file",
                          "build both artifacts from one tree, or remove one of them from the folder"});
    }
    at->second = entry;
  }
}

void settle(Entries& entries, std::vector<Finding>& findings) {
  std::map<std::string, std::string> gone;  // link -> what lies below it
  for (const auto& [path, entry] : entries) {
    for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
      const auto above = entries.find(path.substr(0, slash));
      if (above == entries.end()) continue;
      if (!above->second.link) {
        throw Error(fmt::format("{} is a file in {}, and a folder with {} in {}", printable(above->first),
                                above->second.artifact, printable(path), entry.artifact));
      }
      gone.try_emplace(above->first, path);
    }
  }
  for (const auto& [link, below] : gone) {
    const Entry& entry = entries.at(link);
    findings.push_back(
        {"rocm-conflict", Severity::warning, link,
         fmt::format("is a link to {} in {}, and a folder with {} in {}; the link is omitted",
                     printable(entry.link_target), entry.artifact, printable(below), entries.at(below).artifact),
         "a name is either a link or a folder", "build both artifacts from one tree"});
    entries.erase(link);
  }
}

}  // namespace wheelsmith::rocm
