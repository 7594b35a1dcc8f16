#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_tree.h"
#include "source/git/git_command.h"
#include "source/git/mirrors.h"
#include "source/git/ref_kind.h"
#include "store/store.h"

namespace wheelsmith::source {

// What a ref stands for.
struct Commit {
  std::string id;  // 40 digits
  RefKind ref_kind = RefKind::commit;
  std::string name;               // of the tag or branch, without refs/…; "" for a commit
  std::vector<std::string> tags;  // that stand on the commit, as far as known, sorted
};

struct Submodule {
  std::string name, path;  // path: relative to the repository that has it
  std::string url;         // absolute
  std::string commit;
};

// A commit with what belongs to it.
struct GitTree {
  std::string url, commit;
  std::string ref;  // as asked for; helps servers that give no commit by its name
  std::string tag;  // the one tag that the checkout has; "": none
  std::optional<std::vector<std::string>>
      submodules;  // folders of those wanted (what lies below is, too); nothing: all
};

// Git repositories: asked where [mirrors] says, fetched without history into one bare repository for each URL in the
// store (git/<slug>.git), read there. Messages hold no credentials. May be used from several threads and processes.
class Repositories {
 public:
  Repositories(store::Store& store, const std::map<std::string, std::string>& mirrors, bool offline,
               std::function<bool()> stop = {});

  // One sentence each for what takes long.
  void on_progress(std::function<void(const std::string&)> tell) { m_tell = std::move(tell); }

  // Where it is really asked.
  [[nodiscard]] std::string address(const std::string& url) const { return m_mirrors.place(url).address; }
  // For git below a build that this process runs: the mirrors, and that their folders may belong to others.
  [[nodiscard]] sys::Environment build_variables() const;

  // A tag, a branch, a full ref, a commit, the beginning of one (7 digits or more, where the repository is on this
  // machine or was fetched), "" for the default branch. The answer is kept until `upgrade`. Throws Error: no such ref
  // (the nearest are named); cannot be asked (why, and what mends it).
  Commit resolve(const std::string& url, const std::string& ref, bool upgrade = false);
  // The same, asked anew, for a bundle: resolve() answers so with --offline only, or, where `pin`, until `upgrade`.
  Commit import_ref(const std::string& url, const std::string& ref, bool pin);

  // The bare repository that has the commit with all its files; fetched when it is not there. `ref` (any spelling, ""
  // for none) is what it was found by; a tag's own object comes too.
  std::filesystem::path ensure(const std::string& url, const std::string& commit, const std::string& ref = "");

  // The text of a file; nothing where the commit has no such file.
  std::optional<std::string> file(const std::string& url, const std::string& commit, const std::string& path);
  // All files of the commit, read as they are opened. No longer than this object lives.
  std::unique_ptr<FileTree> files(const std::string& url, const std::string& commit, const std::string& ref = "");

  // Those of the commit itself, not of its submodules; sorted by path.
  std::vector<Submodule> submodules(const std::string& url, const std::string& commit);

  // Into an empty folder: a repository of its own (it needs neither the store nor the network any more) with the commit
  // as detached HEAD, `origin`, at most one tag, and the wanted submodules at their commits. Throws Error when a link
  // leads out, a submodule's commit is gone, or a wanted one is none.
  void checkout(const GitTree& tree, const std::filesystem::path& folder);

  [[nodiscard]] const GitCommand& git() const { return m_git; }

 private:
  using Use = std::function<void(const std::filesystem::path& repository)>;
  // Calls `use` with the repository that has the commit, which nobody removes or changes meanwhile.
  void with(const std::string& url, const std::string& commit, const std::string& ref, const Use& use);
  [[nodiscard]] std::filesystem::path cache(const std::string& url) const;
  std::string list_refs(const std::string& url, const std::string& ref, const std::vector<std::string>& patterns);
  Commit ask(const std::string& url, const std::string& ref);
  // The commit whose name begins so.
  std::optional<std::string> complete(const std::string& url, const std::string& digits);
  void tell(const std::string& sentence) const;

  store::Store& m_store;
  Mirrors m_mirrors;
  bool m_offline = false;
  GitCommand m_git;
  std::function<bool()> m_stop;
  std::function<void(const std::string&)> m_tell;
};

}  // namespace wheelsmith::source
