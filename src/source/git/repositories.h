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

// What a ref resolves to.
struct Commit {
  std::string id;  // 40 digits
  RefKind ref_kind = RefKind::commit;
  std::string name;               // of the tag or branch, without refs/…; "" for a commit
  std::vector<std::string> tags;  // that point to the commit, as far as known, sorted
};

struct Submodule {
  std::string name, path;  // path: relative to the repository that has it
  std::string url;         // absolute
  std::string commit;
};

// A commit with its submodules.
struct GitTree {
  std::string url, commit;
  std::string ref;                                     // as requested; for servers that do not serve commits by hash
  std::string tag;                                     // the checkout's only tag; "": none
  std::optional<std::vector<std::string>> submodules;  // wanted folders (including everything below them); nothing: all
};

// Git repositories: fetched from where [mirrors] says, without history, into one bare repository per URL in the store
// (git/<slug>.git), and read there. Messages contain no credentials. Safe for several threads and processes.
class Repositories {
 public:
  Repositories(store::Store& store, const std::map<std::string, std::string>& mirrors, bool offline,
               std::function<bool()> stop = {});

  // One sentence for each slow operation.
  void on_progress(std::function<void(const std::string&)> tell) { m_tell = std::move(tell); }

  // Where it is actually read from.
  [[nodiscard]] std::string address(const std::string& url) const { return m_mirrors.place(url).address; }
  // For git inside a build that this process runs: the mirrors, and that their folders may belong to others.
  [[nodiscard]] sys::Environment build_variables() const;

  // A tag, a branch, a full ref, a commit, a commit prefix (7 digits or more, if the repository is local or was
  // fetched), "" for the default branch. The answer is kept until `upgrade`. Throws Error: no such ref (naming similar
  // ones); unreachable (with the reason and a fix).
  Commit resolve(const std::string& url, const std::string& ref, bool upgrade = false);
  // The same, asked anew, for a bundle: resolve() uses it only with --offline or, with `pin`, until `upgrade`.
  Commit import_ref(const std::string& url, const std::string& ref, bool pin);

  // The bare repository that has the commit with all its files; fetched if missing. `ref` (any spelling, "" for none)
  // is the ref it was found by; a tag's own object is fetched too.
  std::filesystem::path ensure(const std::string& url, const std::string& commit, const std::string& ref = "");

  // The text of a file; nothing if the commit has no such file.
  std::optional<std::string> file(const std::string& url, const std::string& commit, const std::string& path);
  // All files of the commit, read when opened. Valid as long as this object.
  std::unique_ptr<FileTree> files(const std::string& url, const std::string& commit, const std::string& ref = "");

  // Submodules of the commit itself, without nested ones; sorted by path.
  std::vector<Submodule> submodules(const std::string& url, const std::string& commit);

  // Creates, in an empty folder, an independent repository (it needs neither the store nor the network) with the commit
  // as detached HEAD, `origin`, at most one tag, and the wanted submodules at their commits. Throws Error when a link
  // points outside, a submodule's commit is gone, or a wanted submodule does not exist.
  void checkout(const GitTree& tree, const std::filesystem::path& folder);

  [[nodiscard]] const GitCommand& git() const { return m_git; }

 private:
  using Use = std::function<void(const std::filesystem::path& repository)>;
  // Calls `use` with the repository that has the commit, locked against changes.
  void with(const std::string& url, const std::string& commit, const std::string& ref, const Use& use);
  [[nodiscard]] std::filesystem::path cache(const std::string& url) const;
  std::string list_refs(const std::string& url, const std::string& ref, const std::vector<std::string>& patterns);
  Commit ask(const std::string& url, const std::string& ref);
  // The commit with that prefix.
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
