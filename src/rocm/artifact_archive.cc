#include "rocm/artifact_archive.h"

#include <fmt/format.h>

#include <memory>
#include <set>
#include <unordered_map>

#include "archive/archive.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::rocm {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t k_most_bases = 10'000;  // an artifact has a handful

// The members of an archive: their names are only compared, their contents are in one file.
class Unpacker {
 public:
  Unpacker(const fs::path& scratch, const std::string& shown)
      : m_shown(shown), m_file(std::make_shared<sys::AtomicFile>(scratch / (shown + ".unpacked"))) {}

  void begin(const archive::TarEntry& entry) {
    m_in_manifest = false;
    const bool is_file = entry.kind == archive::TarEntry::Kind::file;
    if (!m_has_manifest) {
      if (!is_file || entry.name != k_artifact_manifest) {
        throw Error(fmt::format("its first member is {} instead of {}", printable(entry.name), k_artifact_manifest));
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
      if (other == m_members.end()) throw Error(fmt::format("{} is a dangling link", printable(entry.name)));
      made = other->second;
    }
    m_members[entry.name] = std::move(made);
  }

  void take(Bytes bytes) {
    if (sys::interrupted()) throw Error("interrupted");
    if (m_in_manifest) {
      if (m_manifest.size() + bytes.size() > k_longest_manifest) throw Error("its manifest is too long");
      m_manifest += bytes.text();
    } else {
      m_file->write(bytes);
    }
  }

  // All members by their base folders; throws Error for a member outside of them.
  [[nodiscard]] Entries finish(std::vector<Finding>& findings) {
    if (!m_has_manifest) throw Error("is empty");
    Entries result;
    // The file is deleted when its bytes are no longer needed; it is never published, so it is not synced.
    const Blob mapped = m_file->size() == 0 ? Blob{} : sys::map_file(m_file->temporary_path());
    const std::shared_ptr<const Blob> contents(new Blob(mapped), [file = m_file](const Blob* blob) { delete blob; });
    const std::vector<std::string> bases = read_artifact_manifest(m_manifest);
    std::unordered_map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < bases.size(); ++i) places.emplace(bases[i], i);
    std::vector<Entries> by_base(bases.size());
    for (auto& [name, entry] : m_members) {
      // The longest base folder that contains it: one may be below another.
      std::string_view folder = name;
      auto found = places.end();
      while (found == places.end() && !folder.empty()) {
        const std::size_t slash = folder.rfind('/');
        folder = slash == folder.npos ? std::string_view() : folder.substr(0, slash);
        found = places.find(folder);
      }
      if (found == places.end()) {
        throw Error(fmt::format("{} is not in a folder listed in {}", printable(name), k_artifact_manifest));
      }
      if (!entry.link) entry.unpacked = contents;
      by_base[found->second][folder.empty() ? name : name.substr(folder.size() + 1)] = std::move(entry);
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

}  // namespace

std::vector<std::string> read_artifact_manifest(std::string_view text) {
  std::vector<std::string> bases;
  std::set<std::string> seen;
  for (const std::string_view line : lines(text)) {
    const std::string_view word = trim(line);
    if (word.empty()) continue;
    try {
      std::string base = archive::plain_name(word);
      if (!seen.insert(base).second) continue;
      if (seen.size() > k_most_bases) throw Error(fmt::format("it names more than {} folders", k_most_bases));
      bases.push_back(std::move(base));
    } catch (const Error& error) {
      throw error.in(k_artifact_manifest);
    }
  }
  return bases;
}

Artifact read_artifact_archive(const fs::path& file, ArtifactName name, const fs::path& scratch,
                               std::vector<Finding>& findings) {
  Artifact artifact{std::move(name), {}};
  const Blob packed = sys::map_file(file);
  if (const auto wanted = sys::read_file_if_there(file.string() + ".sha256sum", 4096)) {
    const std::string_view text = trim(*wanted);
    const std::string hash = to_lower(text.substr(0, text.find_first_of(" \t")));
    if (hash != to_hex(sha256(packed.bytes))) throw Error("does not match its .sha256sum; fetch it again");
  }
  Unpacker unpacker(scratch, artifact.name.to_string());
  archive::read_tar(
      packed.bytes, [&](const archive::TarEntry& entry) { unpacker.begin(entry); },
      [&](Bytes bytes) { unpacker.take(bytes); });
  artifact.entries = unpacker.finish(findings);
  return artifact;
}

}  // namespace wheelsmith::rocm
