// A bundle comes from an untrusted medium. It is read once into a temporary folder; each file's hash must match the
// index; a git bundle must contain the commits with everything they refer to (git itself checks every object); and the
// resulting repository is fetched into the store like any other mirror.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "archive/archive.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/project/project_page.h"
#include "pep/requirement.h"
#include "source/bundle/source_bundle.h"
#include "source/git/ref_kind.h"
#include "source/worktree/git_folder.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/new_file.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

using document::Value;

constexpr std::uint64_t k_largest_index = 16 << 20;
constexpr std::uint64_t k_most_members = 10'000;  // one per repository and sdist

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Members by name with their hashes; content goes to numbered files.
class Members {
 public:
  explicit Members(const fs::path& file) {
    const Blob blob = sys::map_file(file);
    std::optional<sys::NewFile> out;
    Sha256 hash;
    std::string name;
    const auto end = [&] {
      if (!out) return;
      out->close();
      out.reset();
      m_hashes[name] = to_hex(hash.finish());
      hash = Sha256();
    };
    archive::read_tar(
        blob.bytes,
        [&](const archive::TarEntry& entry) {
          end();
          if (entry.kind != archive::TarEntry::Kind::file)
            throw Error(fmt::format("{} is not a file", printable(entry.name)));
          if (m_files.contains(entry.name)) throw Error(fmt::format("it contains {} twice", printable(entry.name)));
          name = entry.name;
          m_files[name] = m_place.path() / std::to_string(m_files.size());
          out = sys::NewFile::replacing(m_files[name], 0600);
        },
        [&](Bytes bytes) {
          out->write(bytes);
          hash.update(bytes);
        },
        {.entries = k_most_members});
    end();
  }

  fs::path take(const std::string& name, const std::string& sha256) {
    const auto found = m_files.find(name);
    if (found == m_files.end()) throw Error(fmt::format("its index lists {}, which is missing", printable(name)));
    if (m_hashes[name] != sha256)
      throw Error(fmt::format("{} is damaged: its sha256 is {}, but the index says {}", printable(name), m_hashes[name],
                              printable(sha256)));
    m_taken.push_back(name);
    return found->second;
  }

  [[nodiscard]] std::string index() const {
    const auto found = m_files.find("index.json");
    if (found == m_files.end()) throw Error("it has no index.json");
    return sys::read_file(found->second, k_largest_index);
  }

  void refuse_rest() const {
    for (const auto& [name, path] : m_files) {
      if (name != "index.json" && std::find(m_taken.begin(), m_taken.end(), name) == m_taken.end())
        throw Error(fmt::format("it contains {}, but its index does not list it", printable(name)));
    }
  }

 private:
  sys::TempDir m_place;
  std::map<std::string, fs::path> m_files;
  std::map<std::string, std::string> m_hashes;
  std::vector<std::string> m_taken;
};

std::string wanted_text(const Value& value, std::string_view key) {
  const std::string* text = value[key].text();
  if (text == nullptr) throw Error(fmt::format("its index has an entry without {}", key));
  return *text;
}

// git's configuration and our notes store URLs as lines.
bool is_address(std::string_view url) {
  return !url.empty() && !url.starts_with('-') &&
         std::none_of(url.begin(), url.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

// Throws Error for a note that could pass for the choice of a source that online builds rely on.
void check_note(const Value& item) {
  constexpr std::string_view k_imported = "imported ";
  const std::string name = wanted_text(item, "name");
  (void)wanted_text(item, "text");
  if (wanted_text(item, "kind") != "source" || !name.starts_with(k_imported) ||
      !pep::is_valid_name(name.substr(k_imported.size())))
    throw Error("its index has a note of an unknown kind");
}

// A repository made from the bundle alone.
void unpack_repository(const Value& item, const fs::path& bundle, const fs::path& place,
                       std::vector<std::string>& commits) {
  commits = item["commits"].texts();
  if (commits.empty()) throw Error("its index lists a repository without commits");
  for (const std::string& commit : commits) {
    if (!is_commit(commit)) throw Error(fmt::format("\"{}\" is not a commit", printable(commit)));
  }
  sys::make_folders(place);
  const GitFolder git(place);
  git.text({"init", "-q", "--bare", "--template=", "."});
  sys::write_file(place / "shallow", join(commits, "\n") + "\n");
  if (!git.run({"bundle", "unbundle", bundle.string()}).exit.good())
    throw Error(fmt::format("{} is not a readable git bundle", printable(item["file"].text_or())));
  for (const std::string& commit : commits) {
    if (!git.commit(commit)) throw Error(fmt::format("commit {} is not in it", commit));
    git.text({"update-ref", "refs/wheelsmith/" + commit, commit});
  }
  if (const sys::Captured whole = git.run({"fsck", "--connectivity-only", "--no-dangling"}); !whole.exit.good())
    throw Error(fmt::format("{} is not complete ({})", printable(item["file"].text_or()), git_message(whole)));
  if (const Value& refs = item["refs"]; refs.array() != nullptr) {
    for (const Value& ref : *refs.array()) {
      const auto kind = enum_named<RefKind>(wanted_text(ref, "kind"));
      const std::string commit = wanted_text(ref, "commit");
      const std::string name = wanted_text(ref, "name");
      if (std::find(commits.begin(), commits.end(), commit) == commits.end())
        throw Error(fmt::format("the commit of {} is not in it", printable(name)));
      if (kind == RefKind::commit || name.empty()) continue;
      const std::string full = (kind == RefKind::tag ? "refs/tags/" : "refs/heads/") + name;
      if (!kind || !git.run({"check-ref-format", full}).exit.good())
        throw Error(fmt::format("\"{}\" is not a valid ref name", printable(name)));
      git.text({"update-ref", full, commit});
      if (kind == RefKind::branch && ref["ref"].text_or().empty()) git.text({"symbolic-ref", "HEAD", full});
    }
  }
}

}  // namespace

BundleContents unbundle(const fs::path& file, bool pin, store::Store& store, fetch::Fetcher& fetcher,
                        const std::function<bool()>& stop) {
  BundleContents result;
  const std::string shown = printable(file.string());
  try {
    Members members(file);
    const Value index = document::parse_json(members.index(), "index.json");
    if (index["schema"].integer_or(0) != 1 || index["kind"].text_or() != "wheelsmith sources")
      throw Error("it was not written by `checkout --bundle`, or by a newer wheelsmith");
    // Check everything before the store is written.
    const sys::TempDir place;
    std::map<std::string, std::string> mirrors;
    std::vector<std::pair<std::string, std::vector<std::string>>> repositories;
    std::size_t number = 0;
    static const document::Array k_none;
    const auto list = [&](std::string_view key) -> const document::Array& {
      const document::Array* found = index[key].array();
      return found != nullptr ? *found : k_none;
    };
    for (const Value& item : list("repositories")) {
      const std::string url = wanted_text(item, "url");
      if (!is_address(url) || mirrors.contains(url))
        throw Error(fmt::format("\"{}\" is not a repository URL", printable(url)));
      const fs::path folder = place.path() / std::to_string(number++);
      std::vector<std::string> commits;
      unpack_repository(item, members.take(wanted_text(item, "file"), wanted_text(item, "sha256")), folder, commits);
      mirrors[url] = folder.string();
      repositories.emplace_back(url, std::move(commits));
    }
    for (const Value& item : list("downloads")) {
      const std::string hash = wanted_text(item, "sha256");
      if (!is_sha256(hash) || !pep::is_safe_file_name(wanted_text(item, "name")))
        throw Error(fmt::format("\"{}\" is not a valid file name", printable(wanted_text(item, "name"))));
      (void)members.take(wanted_text(item, "file"), hash);
    }
    for (const Value& item : list("notes")) check_note(item);
    members.refuse_rest();
    Repositories source(store, mirrors, false, stop);
    std::size_t at = 0;
    for (const Value& item : list("repositories")) {
      const auto& [url, commits] = repositories[at++];
      if (const document::Array* refs = item["refs"].array()) {
        for (const Value& ref : *refs) {
          const Commit found = source.import_ref(url, ref["ref"].text_or(), pin);
          if (found.id != ref["commit"].text_or())
            throw Error(fmt::format("{} is not at the commit in its index", printable(ref["ref"].text_or())));
          (void)source.ensure(url, found.id, ref["ref"].text_or());
        }
      }
      for (const std::string& commit : commits) (void)source.ensure(url, commit);
      result.repositories.push_back(url);
    }
    for (const Value& item : list("downloads")) {
      const fs::path from = members.take(wanted_text(item, "file"), wanted_text(item, "sha256"));
      fetcher.download(pep::file_url(from.string()), wanted_text(item, "name"), wanted_text(item, "sha256"));
      result.downloads.push_back(wanted_text(item, "name"));
    }
    for (const Value& item : list("notes"))
      store.put_note("source", wanted_text(item, "name"), wanted_text(item, "text"));
  } catch (const Error& error) {
    throw error.in(shown);
  }
  return result;
}

}  // namespace wheelsmith::source
