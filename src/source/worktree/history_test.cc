#include "source/worktree/history.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "source/source.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

// git itself checks the result, without user settings.
std::string git_says(const fs::path& folder, const std::vector<std::string>& words) {
  sys::Command command;
  command.argv = {"git", "-C", folder.string(), "-c", "user.name=a", "-c", "user.email=a@example.org"};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.folder = folder;
  command.environment = {
      {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"HOME", "/nonexistent"}, {"GIT_CONFIG_NOSYSTEM", "1"}};
  const sys::Captured said = sys::capture(command, 1 << 20);
  return said.exit.good() ? std::string(trim(said.output)) : "failed: " + said.errors;
}

struct Checkout {
  sys::TempDir root;
  fs::path folder = root.path() / "checkout", tree = root.path() / "step/source";
  store::Store store{root.path() / "store"};

  Checkout() {
    sys::make_folders(folder / "src");
    sys::make_folders(tree.parent_path());
    git_says(root.path(), {"init", "-q", folder.string()});
    commit("a.txt", "one\n");
    git_says(folder, {"tag", "v1.2.0"});
  }
  void commit(const std::string& file, const std::string& text) const {
    sys::write_file(folder / file, text);
    git_says(folder, {"add", "-A"});
    git_says(folder, {"commit", "-qm", "a commit"});
  }
  void bring() {
    sys::make_folders(tree);
    synchronize(folder, tree);
    bring_history(folder, tree, store);
  }
  void expect_the_same() const {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"describe", "--tags", "--long", "--dirty"},
                                                  {"rev-parse", "HEAD"},
                                                  {"tag", "--points-at", "HEAD"},
                                                  {"status", "--porcelain", "--untracked-files=no"},
                                                  {"rev-parse", "--abbrev-ref", "HEAD"}})
      EXPECT_EQ(git_says(tree, words), git_says(folder, words)) << join(words, " ");
  }
};

}  // namespace

TEST(History, MatchesTheCheckout) {
  Checkout checkout;
  checkout.bring();
  checkout.expect_the_same();
  EXPECT_TRUE(git_says(checkout.tree, {"describe", "--tags", "--long", "--dirty"}).starts_with("v1.2.0-0-g"));
  checkout.commit("src/b.txt", "two\n");
  checkout.bring();
  checkout.expect_the_same();
  sys::write_file(checkout.folder / "a.txt", "changed\n");
  checkout.bring();
  checkout.expect_the_same();
  EXPECT_TRUE(git_says(checkout.tree, {"describe", "--tags", "--dirty"}).ends_with("-dirty"));
  git_says(checkout.folder, {"commit", "-qam", "the change"});
  git_says(checkout.folder, {"tag", "v1.3.0"});
  git_says(checkout.folder, {"checkout", "-q", "--detach"});
  checkout.bring();
  checkout.expect_the_same();
}

TEST(History, WorksForAShallowClone) {
  Checkout checkout;
  checkout.commit("a.txt", "two\n");
  const fs::path shallow = checkout.root.path() / "shallow";
  git_says(checkout.root.path(), {"clone", "-q", "--depth=1", "file://" + checkout.folder.string(), shallow.string()});
  git_says(shallow, {"tag", "v2.0.0"});
  checkout.folder = shallow;
  checkout.bring();
  checkout.expect_the_same();
}

TEST(History, DoesNotChangeTheCheckout) {
  Checkout checkout;
  checkout.bring();
  const std::string before = git_says(checkout.folder, {"show-ref", "--head"});
  git_says(checkout.tree, {"tag", "v9"});
  sys::write_file(checkout.tree / "a.txt", "by the build\n");
  git_says(checkout.tree, {"commit", "-qam", "by the build"});
  EXPECT_EQ(git_says(checkout.folder, {"show-ref", "--head"}), before);
  EXPECT_EQ(git_says(checkout.folder, {"status", "--porcelain"}), "");
}

TEST(History, IgnoresAPlainFolder) {
  Checkout checkout;
  sys::remove_tree(checkout.folder / ".git");
  checkout.bring();
  EXPECT_FALSE(fs::exists(checkout.tree / ".git"));
}

}  // namespace wheelsmith::source
