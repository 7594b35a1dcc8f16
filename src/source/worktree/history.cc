// A user's folder is copied without its .git: a build there (setup.py may call `git submodule update`) must not touch
// it. But a package that asks git for its version would fail, or report 0.0.1. So the copy gets its own repository,
// which borrows the checkout's objects.

#include "source/worktree/history.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "source/git/git_command.h"
#include "source/worktree/git_folder.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_mark = "wheelsmith-state";
constexpr std::size_t k_most_borrowed = 100;

// HEAD and all tags.
std::string state_of_history(const GitFolder& git) {
  return to_hex(sha256(Bytes(git.head() + "\n" + git.branch() + "\n" + git.text({"show-ref", "--tags", "--head"}))));
}

}  // namespace

void bring_history(const fs::path& folder, const fs::path& tree, store::Store& store) {
  const fs::path target = tree / ".git";
  if (!GitFolder::is_one(folder)) return;
  const GitFolder checkout(folder);
  if (!checkout.commit("HEAD")) return;  // a repository without a commit
  const std::string state = state_of_history(checkout);
  if (sys::read_file_if_there(target / k_mark, 1 << 10) == state) return;
  const GitCommand git(store, nullptr);
  const fs::path made = tree.parent_path() / "history";
  sys::remove_tree(made);
  const sys::Captured cloned = git.run({"clone", "--quiet", "--shared", "--no-checkout", "--template=", "--",
                                        fs::canonical(folder).string(), made.string()},
                                       tree, "file");
  if (!cloned.exit.good())
    throw Error(fmt::format("cannot read the history of {} ({})", folder.string(), git_message(cloned)));
  sys::remove_tree(target);
  fs::rename(made / ".git", target);
  sys::remove_tree(made);
  // Without a checked-out branch, a clone picks a matching one.
  if (checkout.branch().empty())
    (void)git.output({"update-ref", "--no-deref", "HEAD", checkout.head()}, tree,
                     "cannot set the copied checkout's HEAD");
  // The index as in HEAD: differences in the files are changes, as in the checkout.
  (void)git.output({"reset", "--quiet", "--mixed", "HEAD"}, tree, "cannot create the index of the copied checkout");
  sys::write_file(target / k_mark, state);
}

std::vector<fs::path> borrowed_objects(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!GitFolder::is_one(folder)) return found;
  const GitFolder checkout(folder);
  if (!checkout.commit("HEAD")) return found;
  found.push_back(
      fs::weakly_canonical(folder / std::string(trim(checkout.text({"rev-parse", "--git-path", "objects"})))));
  for (std::size_t i = 0; i < found.size() && found.size() < k_most_borrowed; ++i) {
    const std::string text = sys::read_file_if_possible(found[i] / "info/alternates", 1 << 16).value_or("");
    for (const std::string_view line : lines(text)) {
      if (!line.empty() && line.front() != '#') found.push_back(fs::weakly_canonical(found[i] / std::string(line)));
    }
  }
  return found;
}

}  // namespace wheelsmith::source
