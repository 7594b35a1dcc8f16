#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fetch/fetch.h"
#include "recipe/recipe.h"
#include "store/store.h"

// Turns a recipe's source location into a folder of files, and the digest that represents it in keys.

namespace wheelsmith::source {

// The user's replacement: --source [NAME=]PATH|URL|NAME==VERSION.
struct Override {
  std::string name;                // "" for the only package
  std::string text;                // as given
  std::filesystem::path path;      // a folder or an archive on disk …
  std::string url;                 // … or an archive's URL (optionally #sha256=…) or git+URL@REF …
  std::string project, specifier;  // … or from the package index
};
// Throws Error. An existing PATH takes precedence over the other readings.
Override parse_override(const std::string& text);

// One exact source, found by fetching at most pages.
struct Pin {
  enum class Kind { archive, folder, git, program } kind = Kind::archive;
  std::string project, version;                        // as far as known
  std::string file_name, url, sha256;                  // archive
  std::filesystem::path folder;                        // folder: absolute
  std::string git_url, git_ref, git_commit;            // git; of a folder that is a checkout: its own, without a URL
  std::string git_tag;                                 // git: the requested tag; "" for other refs
  std::optional<std::vector<std::string>> submodules;  // git: folders of required ones; nothing: all
  bool incremental = false;  // --source DIR: built in its own tree, which resumes from the last state
  std::string digest;        // part of the key: "sha256:…" of the archive, "tree:…" of a folder, "git:…" of a commit
  std::vector<std::pair<std::string, std::string>> files;  // folder: those of folder_digest; left out of documents
};

struct FolderDigest {
  std::string digest;
  std::vector<std::pair<std::string, std::string>> files;  // name, digest: to name changed files
};
// All files below except VCS folders, caches and build leftovers (.git, __pycache__, *.egg-info, build, dist, .eggs;
// ignored files where git is available). File digests are remembered by stat.
FolderDigest folder_digest(const std::filesystem::path& folder, store::Store& store);

struct PinOptions {
  std::string python_version;  // for requires-python
  bool upgrade = false;        // choose again although a choice is stored
  bool offline = false;
  std::filesystem::path recipe_folder;                 // of a user's recipe
  std::vector<std::filesystem::path> example_folders;  // candidates for the folders of built-in recipes
};
// The choice of a version is stored until `upgrade`, so that the same command builds the same thing.
Pin pin(const recipe::Recipe& recipe, const std::optional<Override>& user, fetch::Fetcher& fetcher, store::Store& store,
        const PinOptions& options);
// Manually imported sdists: the note (kind "source") by which pin() finds them without an index.
struct ImportedNote {
  std::string name, text;
};
std::vector<ImportedNote> imported_notes(const std::vector<Pin>& sdists);

// For a name without a recipe: the sdist from the package index, fetched (not run), and its visible facts.
std::filesystem::path fetch_archive(const Pin& pin, fetch::Fetcher& fetcher);
// `subfolder` is the package's folder in it.
recipe::SourceFacts look_into(const Pin& pin, const std::string& subfolder, fetch::Fetcher& fetcher,
                              store::Store& store);
// The text of one file of the source, without unpacking or checking out the rest; nothing if it is missing. Only small
// files of an archive can be read.
std::optional<std::string> file_at(const Pin& pin, const std::string& path, fetch::Fetcher& fetcher,
                                   store::Store& store);

// A patch by its text, so that it can be hashed and applied.
struct Patch {
  std::string name, text;
  std::string folder{};  // base of its names: the path of a submodule, "" for the source itself
};

// Unpacks (without a single top folder) or copies into `folder`, which must be empty or absent, then applies the
// patches. An archive that writes outside is rejected; a patch that does not apply is an Error that names it, the file
// and the hunk; an already applied one is reported as such.
void materialize(const Pin& pin, const std::vector<Patch>& patches, fetch::Fetcher& fetcher, store::Store& store,
                 const std::filesystem::path& folder);
// Unpacks a .tar.* or .zip safely.
void unpack(const std::filesystem::path& archive, const std::filesystem::path& folder, bool strip_first);
// For --source DIR: copies changed files (by content), removes deleted ones, keeps build outputs; unchanged files keep
// their times so that ninja and setuptools rebuild only what changed.
void synchronize(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace wheelsmith::source
