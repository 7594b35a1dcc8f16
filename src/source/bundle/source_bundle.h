#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fetch/fetch.h"
#include "source/git/ref_kind.h"
#include "source/git/repositories.h"
#include "store/store.h"

// Sources as one file, for a machine without network: a tar with
//
//   index.json            {"schema": 1, "repositories": [...], "downloads": [...], "notes": [...]}
//   git/<slug>.bundle     output of `git bundle create`; one per repository, without history
//   downloads/<sha256>    sdists
//
// Its content is untrusted: hashes are compared, commits must exist, names must be plain.

namespace wheelsmith::source {

struct BundledRef {
  std::string ref;  // as requested
  RefKind kind = RefKind::commit;
  std::string name, commit;
};

struct BundledRepository {
  std::string url;
  std::set<std::string> commits;
  std::vector<BundledRef> refs;
};

struct BundledDownload {
  std::string file_name, url, sha256;
  std::filesystem::path path;  // on this machine
};

// Additional notes for the store (Store::put_note).
struct BundledNote {
  std::string kind, name, text;
};

struct BundleContents {
  std::vector<std::string> repositories, downloads;  // URLs without credentials, file names
};

class SourceBundle {
 public:
  explicit SourceBundle(Repositories& repositories) : m_repositories(repositories) {}

  // A ref with its submodules; nothing in `submodules`: all.
  std::string add(const std::string& url, const std::string& ref,
                  const std::optional<std::vector<std::string>>& submodules, const std::string& commit = "");
  void add_download(BundledDownload download) { m_downloads.push_back(std::move(download)); }
  void add_note(BundledNote note) { m_notes.push_back(std::move(note)); }

  // Appears under its name only when complete.
  void write(const std::filesystem::path& file);

  [[nodiscard]] const std::vector<BundledDownload>& downloads() const { return m_downloads; }
  [[nodiscard]] BundleContents contents() const;

 private:
  void walk(const std::string& url, const std::string& commit, const std::string& path, class WantedFolders& wanted,
            int depth);

  Repositories& m_repositories;
  std::map<std::string, BundledRepository> m_found;
  std::vector<BundledDownload> m_downloads;
  std::vector<BundledNote> m_notes;
};

// Imports into the store. `pin`: its branches and tags also apply without --offline. Throws Error for an inconsistent
// file.
BundleContents unbundle(const std::filesystem::path& file, bool pin, store::Store& store, fetch::Fetcher& fetcher,
                        const std::function<bool()>& stop);

}  // namespace wheelsmith::source
