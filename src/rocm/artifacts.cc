#include "rocm/artifacts.h"

// Artifacts are what ROCm's build leaves behind: one folder (or archive) for each sub-project, slice and GPU. Inside, a
// manifest names base folders, each in the shape of an install prefix. Laid over one another they are the SDK.
//
// What is read here was written by somebody else's build: a manifest line must stay inside, links are never followed by
// the operating system but resolved among the entries that are known, and an archive's files are written one behind the
// other into a single file without a name of theirs, so that none of their names can reach anything.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "archive/archive.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process.h"

namespace wheelsmith::rocm {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_manifest = "artifact_manifest.txt";
constexpr std::string_view k_endings[] = {".tar.zst", ".tar.xz"};  // the first that is there is taken
constexpr int k_most_links = 40;

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

// The base folders, plain and each once.
std::vector<std::string> read_manifest(std::string_view text) {
  std::vector<std::string> bases;
  for (const std::string_view line : lines(text)) {
    const std::string_view word = trim(line);
    if (word.empty()) continue;
    try {
      std::string base = archive::plain_name(word);
      if (std::find(bases.begin(), bases.end(), base) == bases.end()) bases.push_back(std::move(base));
    } catch (const Error& error) {
      throw error.in(k_manifest);
    }
  }
  return bases;
}

// A base folder must be what it seems: no link on the way may lead out of the artifact.
std::optional<fs::path> base_folder(const fs::path& artifact, const std::string& base) {
  std::error_code error;
  const fs::path root = fs::canonical(artifact, error);
  if (error) sys::throw_sys_error(error.value(), "look at", artifact);
  const fs::path folder = fs::canonical(artifact / base, error);
  if (error || !fs::is_directory(folder, error)) return std::nullopt;
  const auto [at, end] = std::mismatch(root.begin(), root.end(), folder.begin(), folder.end());
  if (at != root.end()) throw Error(fmt::format("{}: {} leads out of the artifact", k_manifest, printable(base)));
  return folder;
}

Artifact read_folder(const fs::path& folder, ArtifactName name, std::vector<Finding>& findings) {
  Artifact artifact{std::move(name), {}};
  const std::string shown = artifact.name.to_string();
  for (const std::string& base : read_manifest(sys::read_file(folder / k_manifest, 16 << 20))) {
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

// The members of an archive: their names are only looked at, their contents lie in one file.
class Unpacker {
 public:
  Unpacker(const fs::path& scratch, const std::string& shown)
      : m_shown(shown), m_file(std::make_shared<sys::AtomicFile>(scratch / (shown + ".unpacked"))) {}

  void begin(const archive::TarEntry& entry) {
    m_in_manifest = false;
    const bool is_file = entry.kind == archive::TarEntry::Kind::file;
    if (!m_has_manifest) {
      if (!is_file || entry.name != k_manifest) {
        throw Error(fmt::format("its first member is {}; it must be {}", printable(entry.name), k_manifest));
      }
      m_has_manifest = m_in_manifest = true;
      return;
    }
    if (entry.kind == archive::TarEntry::Kind::folder) return;
    Entry made;
    made.artifact = m_shown;
    if (is_file) {
      made.size = entry.size;
      made.executable = (entry.mode & 0111) != 0;
      made.offset = m_file->size();
    } else if (entry.kind == archive::TarEntry::Kind::symlink) {
      made.link = true;
      made.link_target = entry.target;
    } else {
      const auto other = m_members.find(entry.target);
      if (other == m_members.end()) throw Error(fmt::format("{} is a link to nothing", printable(entry.name)));
      made = other->second;
    }
    m_members[entry.name] = std::move(made);
  }

  void take(Bytes bytes) {
    if (sys::interrupted()) throw Error("interrupted");
    if (m_in_manifest) {
      if (m_manifest.size() + bytes.size() > k_longest_manifest) throw Error("its manifest is too long to be one");
      m_manifest += bytes.text();
    } else {
      m_file->write(bytes);
    }
  }

  // All members by their base folders; what belongs to none is an Error.
  [[nodiscard]] Entries finish(std::vector<Finding>& findings) {
    if (!m_has_manifest) throw Error("is empty");
    Entries result;
    // The file goes when nobody needs its bytes any more; it is never published, so nothing is synced.
    const Blob mapped = m_file->size() == 0 ? Blob{} : sys::map_file(m_file->temporary_path());
    const std::shared_ptr<const Blob> contents(new Blob(mapped), [file = m_file](const Blob* blob) { delete blob; });
    const std::vector<std::string> bases = read_manifest(m_manifest);
    std::vector<Entries> by_base(bases.size());
    for (auto& [name, entry] : m_members) {
      // The longest base that holds it: one may lie below another.
      std::size_t best = bases.size();
      for (std::size_t i = 0; i < bases.size(); ++i) {
        const bool holds = bases[i].empty() || (name.starts_with(bases[i]) && name.size() > bases[i].size() &&
                                                name[bases[i].size()] == '/');
        if (holds && (best == bases.size() || bases[i].size() > bases[best].size())) best = i;
      }
      if (best == bases.size()) {
        throw Error(fmt::format("{} lies in no folder that {} names", printable(name), k_manifest));
      }
      if (!entry.link) entry.unpacked = contents;
      by_base[best][bases[best].empty() ? name : name.substr(bases[best].size() + 1)] = std::move(entry);
    }
    for (const Entries& entries : by_base) merge(result, entries, findings);
    return result;
  }

 private:
  static constexpr std::size_t k_longest_manifest = 16 << 20;

  std::string m_shown;
  std::shared_ptr<sys::AtomicFile> m_file;
  std::string m_manifest;
  bool m_has_manifest = false;
  bool m_in_manifest = false;
  Entries m_members;
};

Artifact read_archive(const fs::path& file, ArtifactName name, const fs::path& scratch,
                      std::vector<Finding>& findings) {
  Artifact artifact{std::move(name), {}};
  const Blob packed = sys::map_file(file);
  if (const auto wanted = sys::read_file_if_there(file.string() + ".sha256sum", 4096)) {
    const std::string_view text = trim(*wanted);
    const std::string hash = to_lower(text.substr(0, text.find_first_of(" \t")));
    if (hash != to_hex(sha256(packed.bytes))) throw Error("is not what its .sha256sum says; fetch it again");
  }
  Unpacker unpacker(scratch, artifact.name.to_string());
  archive::read_tar(
      packed.bytes, [&](const archive::TarEntry& entry) { unpacker.begin(entry); },
      [&](Bytes bytes) { unpacker.take(bytes); });
  artifact.entries = unpacker.finish(findings);
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
    if (is_folder && !fs::exists(entry.path() / k_manifest, error)) continue;
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
    if (!is_word(word)) throw Error(fmt::format("{} is no name of an artifact", printable(text)));
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
        fmt::format("{}: there are no artifacts in it: folders NAME_COMPONENT_TARGET with {}, or archives of them",
                    printable(folder.string()), k_manifest));
  }
  Artifacts result;
  result.all.resize(found.size());
  std::vector<std::vector<Finding>> findings(found.size());
  parallel_for(found.size(), threads, [&](std::size_t i) {
    try {
      result.all[i] = found[i].rank == 0 ? read_folder(found[i].path, found[i].name, findings[i])
                                         : read_archive(found[i].path, found[i].name, scratch, findings[i]);
    } catch (const Error& error) {
      throw error.in(printable(found[i].path.filename().string()));
    }
  });
  for (std::vector<Finding>& some : findings) result.findings.insert(result.findings.end(), some.begin(), some.end());
  return result;
}

void merge(Entries& into, const Entries& newer, std::vector<Finding>& findings) {
  for (const auto& [path, entry] : newer) {
    const auto [at, is_new] = into.try_emplace(path, entry);
    if (is_new) continue;
    if (!same_contents(at->second, entry)) {
      findings.push_back({"rocm-conflict", Severity::warning, path,
                          fmt::format("{} and {} have different files of this name; that of {} is taken",
                                      at->second.artifact, entry.artifact, entry.artifact),
                          "only one of them can be in the package, and the other's users get the wrong one",
                          "build both artifacts from one tree, or keep one of them out of the folder"});
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
         fmt::format("it is a link to {} in {}, and a folder with {} in {}; the link is left out",
                     printable(entry.link_target), entry.artifact, printable(below), entries.at(below).artifact),
         "a name is either a link or a folder", "build both artifacts from one tree"});
    entries.erase(link);
  }
}

Tree::Tree(const Entries& entries) : m_entries(entries) {
  m_folders[""] = true;
  for (const auto& [path, entry] : entries) {
    for (std::size_t slash = path.rfind('/'); slash != path.npos; slash = path.rfind('/', slash - 1)) {
      if (!m_folders.emplace(path.substr(0, slash), true).second || slash == 0) break;
    }
  }
}

Resolved Tree::resolve(const std::string& path) const {
  std::vector<std::string> rest;  // of the path, the next part last
  const auto push = [&](std::string_view text) {
    const std::vector<std::string_view> parts = split(text, '/');
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) rest.emplace_back(*part);
  };
  push(path);
  std::vector<std::string> done;
  for (int links = 0; !rest.empty();) {
    const std::string part = std::move(rest.back());
    rest.pop_back();
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (done.empty()) return {};  // out of the prefix
      done.pop_back();
      continue;
    }
    done.push_back(part);
    const auto found = m_entries.find(join(done, "/"));
    if (found == m_entries.end()) {
      if (!m_folders.contains(join(done, "/"))) return {};
    } else if (found->second.link) {
      if (++links > k_most_links || found->second.link_target.starts_with('/')) return {};
      done.pop_back();
      push(found->second.link_target);
    } else if (!rest.empty()) {
      return {};  // below a file there is nothing
    }
  }
  std::string end = join(done, "/");
  const bool is_file = m_entries.contains(end);
  return {is_file ? Resolved::Kind::file : Resolved::Kind::folder, std::move(end)};
}

}  // namespace wheelsmith::rocm
