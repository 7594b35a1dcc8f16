#include "source/bundle/source_bundle.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/tar_writer.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "document/value.h"
#include "fetch/fetch.h"
#include "source/git/mirrors.h"
#include "source/git/submodules.h"
#include "source/worktree/git_folder.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

using document::Array;
using document::Table;
using document::Value;

// A bundle needs refs for its commits, but the store's repository must not get new ones: so use a repository that has
// only refs and borrows its objects from there.
void make_bundle(const fs::path& repository, const BundledRepository& what, const fs::path& place,
                 const fs::path& file) {
  sys::make_folders(place);
  const GitFolder git(place);
  git.text({"init", "-q", "--bare", "--template=", "."});
  sys::make_folders(place / "objects/info");
  sys::write_file(place / "objects/info/alternates", fs::canonical(repository / "objects").string() + "\n");
  std::vector<std::string> shallow(what.commits.begin(), what.commits.end());
  // One commit each, whatever history the store has.
  sys::write_file(place / "shallow", join(shallow, "\n") + "\n");
  std::vector<std::string> bundle = {"bundle", "create", "-q", file.string()};
  for (const std::string& commit : what.commits) {
    const std::string name = "refs/wheelsmith/" + commit;
    git.text({"update-ref", name, commit});
    bundle.push_back(name);
  }
  git.text(bundle);
}

std::string file_sha256(const fs::path& path) {
  const Blob blob = sys::map_file(path);
  return to_hex(sha256(blob.bytes));
}

}  // namespace

std::string SourceBundle::add(const std::string& url, const std::string& ref,
                              const std::optional<std::vector<std::string>>& submodules, const std::string& commit) {
  Commit found;
  if (commit.empty()) {
    found = m_repositories.resolve(url, ref);
  } else {
    found.id = commit;
    found.ref_kind = RefKind::commit;
  }
  WantedFolders wanted(submodules);
  (void)m_repositories.ensure(url, found.id, ref);
  walk(url, found.id, "", wanted, 0);
  wanted.check(true);
  m_found[repository_name(url)].refs.push_back({ref, found.ref_kind, found.name, found.id});
  return found.id;
}

void SourceBundle::walk(const std::string& url, const std::string& commit, const std::string& path,
                        WantedFolders& wanted, int depth) {
  if (depth > 10) throw Error("submodules are nested too deep");
  // URLs with and without ".git" are one repository.
  BundledRepository& repository = m_found[repository_name(url)];
  if (repository.url.empty()) repository.url = url;
  repository.commits.insert(commit);
  for (const Submodule& one : m_repositories.submodules(url, commit)) {
    const std::string below = path.empty() ? one.path : path + "/" + one.path;
    if (!wanted.takes(below)) continue;
    (void)m_repositories.ensure(one.url, one.commit, "");
    walk(one.url, one.commit, below, wanted, depth + 1);
  }
}

void SourceBundle::write(const fs::path& file) {
  const fs::path target = fs::absolute(file);
  if (sys::is_folder(target)) throw Error(fmt::format("{} is a folder", printable(file.string())));
  sys::make_folders(target.parent_path());
  const sys::TempDir place;
  Table index;
  index["schema"] = 1;
  index["kind"] = "wheelsmith sources";
  Array repositories;
  std::vector<std::pair<std::string, fs::path>> members;
  for (const auto& [name, repository] : m_found) {
    const std::string& url = repository.url;
    const std::string slug = store::slug(name);
    const fs::path bundle = place.path() / (slug + ".bundle");
    make_bundle(m_repositories.ensure(url, *repository.commits.begin()), repository, place.path() / slug, bundle);
    Table item;
    item["url"] = fetch::without_credentials(url);
    item["file"] = "git/" + slug + ".bundle";
    item["sha256"] = file_sha256(bundle);
    item["commits"] = Array(repository.commits.begin(), repository.commits.end());
    Array refs;
    for (const BundledRef& ref : repository.refs) {
      Table one;
      one["ref"] = ref.ref;
      one["kind"] = to_string(ref.kind);
      one["name"] = ref.name;
      one["commit"] = ref.commit;
      refs.emplace_back(std::move(one));
    }
    item["refs"] = std::move(refs);
    repositories.emplace_back(std::move(item));
    members.emplace_back("git/" + slug + ".bundle", bundle);
  }
  index["repositories"] = std::move(repositories);
  Array downloads;
  for (const BundledDownload& download : m_downloads) {
    Table item;
    item["file"] = "downloads/" + download.sha256;
    item["name"] = download.file_name;
    item["url"] = fetch::without_credentials(download.url);
    item["sha256"] = download.sha256;
    downloads.emplace_back(std::move(item));
    members.emplace_back("downloads/" + download.sha256, download.path);
  }
  index["downloads"] = std::move(downloads);
  Array notes;
  for (const BundledNote& note : m_notes) {
    Table item;
    item["kind"] = note.kind;
    item["name"] = note.name;
    item["text"] = note.text;
    notes.emplace_back(std::move(item));
  }
  index["notes"] = std::move(notes);
  sys::AtomicFile out(target);
  archive::TarWriter tar(out);
  tar.add("index.json", document::to_json(index) + "\n");
  for (const auto& [name, path] : members) {
    const Blob blob = sys::map_file(path);
    tar.begin(name, blob.bytes.size());
    constexpr std::uint64_t k_piece = 4 << 20;
    for (std::uint64_t at = 0; at < blob.bytes.size(); at += k_piece) tar.write(blob.bytes.clamp(at, k_piece));
  }
  tar.finish();
  out.set_mode(0644);
  out.commit();
}

BundleContents SourceBundle::contents() const {
  BundleContents contents;
  for (const auto& [url, repository] : m_found) contents.repositories.push_back(fetch::without_credentials(url));
  for (const BundledDownload& download : m_downloads) contents.downloads.push_back(download.file_name);
  return contents;
}

}  // namespace wheelsmith::source
