#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fetch/fetch.h"
#include "recipe/recipe.h"
#include "store/store.h"

// From where a recipe's source is said to be to a folder of files, and to the digest that stands for it in keys.

namespace wheelsmith::source {

// What the user said instead: --source [NAME=]PATH|URL|NAME==VERSION.
struct Override {
  std::string name;                // "" for the only package
  std::string text;                // as given
  std::filesystem::path path;      // a folder or an archive on disk …
  std::string url;                 // … or an archive's URL (optionally #sha256=…) or git+URL@REF …
  std::string project, specifier;  // … or of the registry
};
// Throws Error. PATH that exists wins over the other readings.
Override parse_override(const std::string& text);

// One exact source, found without fetching more than pages.
struct Pin {
  enum class Kind { archive, folder, git, program } kind = Kind::archive;
  std::string project, version;                        // as far as known
  std::string file_name, url, sha256;                  // archive
  std::filesystem::path folder;                        // folder: absolute
  std::string git_url, git_ref, git_commit;            // git; of a folder that is a checkout: its own, without a URL
  std::string git_tag;                                 // git: the tag that was asked for; "" for other refs
  std::optional<std::vector<std::string>> submodules;  // git: folders of those that are needed; nothing: all
  bool incremental = false;  // --source DIR: built in place of its own tree, goes on from the last state
  std::string digest;  // what enters the key: "sha256:…" of the archive, "tree:…" of a folder, "git:…" of a commit
  std::vector<std::pair<std::string, std::string>> files;  // folder: those of folder_digest; left out of documents
};

struct FolderDigest {
  std::string digest;
  std::vector<std::pair<std::string, std::string>> files;  // name, digest: what changed can be named
};
// All files below but VCS folders, caches and build leftovers (.git, __pycache__, *.egg-info, build, dist, .eggs; what
// the folder's .gitignore says where git is there). File digests are remembered by stat.
FolderDigest folder_digest(const std::filesystem::path& folder, store::Store& store);

struct PinOptions {
  std::string python_version;  // for requires-python
  bool upgrade = false;        // choose anew although a choice is kept
  bool offline = false;
  std::filesystem::path recipe_folder;                 // of a user's recipe
  std::vector<std::filesystem::path> example_folders;  // where embedded recipes' folders may be
};
// The choice of a version is kept in the store until `upgrade`, so that the same command builds the same thing.
Pin pin(const recipe::Recipe& recipe, const std::optional<Override>& user, fetch::Fetcher& fetcher, store::Store& store,
        const PinOptions& options);
// What is kept of sdists that came by hand: the note (kind "source") by which pin() finds them without an index.
struct ImportedNote {
  std::string name, text;
};
std::vector<ImportedNote> imported_notes(const std::vector<Pin>& sdists);

// For a name that no recipe has: the sdist of the registry, fetched (not run), and what can be seen in it.
std::filesystem::path fetch_archive(const Pin& pin, fetch::Fetcher& fetcher);
// `subfolder` is where the package is in it.
recipe::SourceFacts look_into(const Pin& pin, const std::string& subfolder, fetch::Fetcher& fetcher,
                              store::Store& store);
// The text of one file of the source, without unpacking or checking out the rest; nothing where there is none. Of an
// archive only small files can be read.
std::optional<std::string> file_at(const Pin& pin, const std::string& path, fetch::Fetcher& fetcher,
                                   store::Store& store);

// A patch by its text, so that it can be hashed and applied.
struct Patch {
  std::string name, text;
  std::string folder{};  // that its names count from: the path of a submodule, "" for the source itself
};

// Unpacks (one leading folder stripped) or copies into `folder`, which must be empty or absent, then applies the
// patches. An archive that writes outside is refused; a patch that does not apply is an Error that names it, the file
// and the hunk; one that is already applied is told apart.
void materialize(const Pin& pin, const std::vector<Patch>& patches, fetch::Fetcher& fetcher, store::Store& store,
                 const std::filesystem::path& folder);
// Unpacks a .tar.* or .zip safely.
void unpack(const std::filesystem::path& archive, const std::filesystem::path& folder, bool strip_first);
// For --source DIR: brings changed files over (by content), removes deleted ones, leaves what the build made; unchanged
// files keep their times so that ninja and setuptools rebuild only what changed.
void synchronize(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace wheelsmith::source
