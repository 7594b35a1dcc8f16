#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "source/archive/archive_tree.h"
#include "source/folder/listing.h"
#include "source/folder/tree_copy.h"
#include "source/git/git.h"
#include "source/identity.h"
#include "source/patches/patch.h"
#include "source/source.h"
#include "source/worktree/staging.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

// A stored choice without its URL, because that contained a password.
std::string url_from_page(const Pin& pin, fetch::Fetcher& fetcher) {
  for (const pep::ProjectFile& file : fetcher.project(pin.project).files) {
    if (file.name == pin.file_name) return file.url;
  }
  throw Error(
      fmt::format("the index no longer has {}; use --upgrade to choose another version", printable(pin.file_name)));
}

}  // namespace

std::filesystem::path fetch_archive(const Pin& pin, fetch::Fetcher& fetcher) {
  if (pin.kind != Pin::Kind::archive) throw Error(fmt::format("the source of {} is not an archive", pin.project));
  if (!pin.url.empty()) return fetcher.download(pin.url, pin.file_name, pin.sha256);
  return fetcher.download(url_from_page(pin, fetcher), pin.file_name, pin.sha256);
}

void materialize(const Pin& pin, const std::vector<Patch>& patches, fetch::Fetcher& fetcher, store::Store& store,
                 const std::filesystem::path& folder) {
  Staging staging(folder);
  const std::filesystem::path made = staging.path() / "source";
  switch (pin.kind) {
    case Pin::Kind::archive: {
      unpack(fetch_archive(pin, fetcher), made, true);
      check_version(pin.file_name, pin.version, identity_of(sys::FolderTree(made)).version);
      break;
    }
    case Pin::Kind::folder: {
      sys::make_folders(made);
      TreeCopy copy(pin.folder, made);
      for (const SourceFile& file : list_source(pin.folder)) copy.bring(file);
      break;
    }
    case Pin::Kind::git: repositories_for(fetcher, store).checkout(tree_of(pin), made); break;
    case Pin::Kind::program: sys::make_folders(made); break;
  }
  apply_patches(made, patches);
  staging.publish(made);
}

recipe::SourceFacts look_into(const Pin& pin, const std::string& subfolder, fetch::Fetcher& fetcher,
                              store::Store& store) {
  switch (pin.kind) {
    case Pin::Kind::archive: {
      const ArchiveTree tree(fetch_archive(pin, fetcher));
      check_version(pin.file_name, pin.version, identity_of(tree).version);
      return recipe::read_source(SubTree(tree, subfolder));
    }
    case Pin::Kind::folder: return recipe::read_source(SubTree(sys::FolderTree(pin.folder), subfolder));
    case Pin::Kind::git: {
      Repositories repositories = repositories_for(fetcher, store);
      return recipe::read_source(SubTree(*repositories.files(pin.git_url, pin.git_commit, pin.git_ref), subfolder));
    }
    case Pin::Kind::program: break;
  }
  return {};
}

std::optional<std::string> file_at(const Pin& pin, const std::string& path, fetch::Fetcher& fetcher,
                                   store::Store& store) {
  const auto text_of = [&](const FileTree& tree) -> std::optional<std::string> {
    const std::optional<Blob> blob = tree.open(path);
    return blob ? std::optional(std::string(blob->bytes.text())) : std::nullopt;
  };
  switch (pin.kind) {
    case Pin::Kind::archive: return text_of(ArchiveTree(fetch_archive(pin, fetcher)));
    case Pin::Kind::folder: return text_of(sys::FolderTree(pin.folder));
    case Pin::Kind::git: return repositories_for(fetcher, store).file(pin.git_url, pin.git_commit, path);
    case Pin::Kind::program: break;
  }
  return {};
}

}  // namespace wheelsmith::source
