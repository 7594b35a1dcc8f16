#include "source/git/repositories.h"

#include <sys/stat.h>

#include <cstdlib>

#include "source/git/commit_fetch.h"
#include "source/git/test_repositories.h"

namespace wheelsmith::source {
namespace {

namespace fs = std::filesystem;

class Fetching : public RepositoriesTest {};

TEST_F(Fetching, GetsOneCommitWithoutHistory) {
  const std::string first = commit(origin("a"), "f", "1");
  const std::string second = commit(origin("a"), "sub/g", "2");
  const fs::path repository = repositories().ensure(k_url, second);
  EXPECT_EQ(git(repository, {"rev-list", "--count", second}), "1");
  EXPECT_EQ(repositories().file(k_url, second, "sub/g"), "2");
  EXPECT_EQ(repositories().file(k_url, second, "sub"), std::nullopt);
  EXPECT_EQ(repositories().file(k_url, second, "sub/*"), std::nullopt);
  // A commit that no branch points to.
  EXPECT_EQ(repositories().file(k_url, first, "f"), "1");
  EXPECT_EQ(repositories().file(k_url, first, "sub/g"), std::nullopt);
  // A stored commit is never requested again.
  fs::rename(origin("a"), origin("moved"));
  EXPECT_EQ(repositories().ensure(k_url, first), repository);
  EXPECT_EQ(repositories(true).file(k_url, second, "f"), "1");
}

TEST_F(Fetching, FilesAreATree) {
  commit(origin("a"), "f", "1");
  fs::create_symlink("f", origin("a") / "link");
  const std::string id = commit(origin("a"), "sub/g", "22");
  Repositories own = repositories();
  const auto tree = own.files(k_url, id);
  EXPECT_EQ(tree->files(), (std::vector<FileTree::File>{{"f", 1}, {"sub/g", 2}}));
  EXPECT_EQ(tree->open("sub/g")->bytes.text(), "22");
  EXPECT_FALSE(tree->open("../f"));
}

TEST_F(Fetching, AShallowMirrorIsEnough) {
  commit(origin("full"), "f", "1");
  commit(origin("full"), "f", "2");
  git(origin("full"), {"tag", "-a", "v2", "-m", "v2"});
  git(m_origins, {"clone", "-q", "--bare", "--depth=1", "file://" + origin("full").string(), "a.git"});
  Repositories own = repositories();
  const Commit found = own.resolve(k_url, "v2");
  EXPECT_EQ(own.file(k_url, found.id, "f"), "2");
  own.checkout({k_url, found.id, "v2", "v2", {}}, m_tree);
  EXPECT_EQ(git(m_tree, {"describe"}), "v2");
}

TEST_F(Fetching, RecoversAfterAKill) {
  const std::string id = commit(origin("a"), "f", "1");
  const std::string next = commit(origin("a"), "f", "2");
  const fs::path repository = repositories().ensure(k_url, id);
  // Killed before the ref and the list of shallow commits were written, with git's locks in place.
  fs::remove(repository / commit_ref(id));
  fs::remove(repository / "shallow");
  for (const char* left : {"shallow.lock", "config.lock", "packed-refs.lock", "objects/pack/tmp_pack_x"})
    sys::write_file(repository / left, "");
  sys::write_file(repository / (commit_ref(id) + ".lock"), "");
  EXPECT_EQ(repositories().file(k_url, id, "f"), "1");
  EXPECT_EQ(repositories().file(k_url, next, "f"), "2");
  EXPECT_FALSE(fs::exists(repository / "objects/pack/tmp_pack_x"));
  repositories().checkout({k_url, next, "", "", {}}, m_tree);
  EXPECT_EQ(git(m_tree, {"rev-list", "--count", "HEAD"}), "1");
  // Damage is detected, and repaired by fetching again.
  sys::remove_tree(repository / "objects/pack");
  EXPECT_EQ(repositories().file(k_url, id, "f"), "1");
  // A repository that was not even created.
  fs::remove(repository / store::k_complete_mark);
  fs::remove(repository / "HEAD");
  EXPECT_EQ(repositories().file(k_url, id, "f"), "1");
}

TEST_F(Fetching, SurvivesStoreCollection) {
  const std::string id = commit(origin("a"), "f", "1");
  const fs::path repository = repositories().ensure(k_url, id);
  std::vector<store::Removed> removed;
  {
    const store::Lock held = m_store.lock("git-" + repository.filename().string());
    m_store.collect(0, 0, false, removed);
    EXPECT_TRUE(fs::exists(repository));
  }
  m_store.collect(0, 0, false, removed);
  EXPECT_FALSE(fs::exists(repository));
  EXPECT_EQ(repositories().file(k_url, id, "f"), "1");
}

TEST_F(Fetching, NamesAMirrorWithWrongObjects) {
  const std::string id = commit(origin("a"), "f", "1");
  const std::string absent(40, 'e');
  const std::string gone = error_of([&] { (void)repositories().ensure(k_url, absent); });
  for (const std::string& part : {std::string(k_url), origin("a").string(), "has no commit " + absent})
    EXPECT_TRUE(has(gone, part)) << gone;
  // The object under the file's hash is a different one.
  const std::string wrong = git(origin("a"), {"hash-object", "-w", "/dev/null"});
  const std::string right = git(origin("a"), {"rev-parse", "HEAD:f"});
  const auto object = [&](const std::string& name) {
    return origin("a") / ".git/objects" / name.substr(0, 2) / name.substr(2);
  };
  fs::remove(object(right));
  fs::copy_file(object(wrong), object(right));
  const std::string lie = error_of([&] { (void)repositories().ensure(k_url, id); });
  for (const std::string& part : {std::string(k_url), origin("a").string(), id}) EXPECT_TRUE(has(lie, part)) << lie;
  EXPECT_NE(error_of([&] { (void)repositories().file(k_url, id, "f"); }), "no error");
}

TEST_F(Fetching, ReportsOffline) {
  const std::string text =
      error_of([&] { (void)repositories(true).ensure("https://x.invalid/a", std::string(40, 'a')); });
  EXPECT_TRUE(has(text, "--offline")) << text;
  EXPECT_TRUE(has(text, "[mirrors]")) << text;
}

// An ssh that fails once per line of a file, then works.
class Flaky : public RepositoriesTest {
 protected:
  void SetUp() override {
    RepositoriesTest::SetUp();
    if (IsSkipped()) return;
    const fs::path script = m_temporary.path() / "ssh";
    sys::write_file(script, "#!/bin/sh\nread -r line < \"" + m_failures.string() + "\" && sed -i 1d \"" +
                                m_failures.string() +
                                "\" && echo \"$line\" >&2 && exit 128\n"
                                "for last; do :; done; exec sh -c \"$last\"\n");
    ::chmod(script.c_str(), 0755);
    ::setenv("GIT_SSH_COMMAND", script.c_str(), 1);
    ::setenv("GIT_SSH_VARIANT", "simple", 1);
    m_id = commit(origin("a"), "f", "1");
  }
  void TearDown() override {
    ::unsetenv("GIT_SSH_COMMAND");
    ::unsetenv("GIT_SSH_VARIANT");
  }
  fs::path m_failures = m_temporary.path() / "failures";
  std::string m_id;
};

TEST_F(Flaky, RetriesNetworkErrors) {
  const std::string url = "ssh://host" + origin("a").string();
  sys::write_file(m_failures, "ssh: connect to host: Connection timed out\nssh: Connection reset by peer\n");
  EXPECT_EQ(repositories().resolve(url, "main").id, m_id);
  sys::write_file(m_failures, "ssh: connect to host: Connection timed out\nssh: Connection reset by peer\n");
  EXPECT_EQ(repositories().file(url, m_id, "f"), "1");
}

TEST_F(Flaky, DoesNotRetryMissingRefs) {
  const std::string url = "ssh://host" + origin("a").string();
  sys::write_file(m_failures, "ERROR: Repository not found.\nnever read\n");
  const std::string text = error_of([&] { (void)repositories().resolve(url, "main"); });
  EXPECT_TRUE(has(text, "Repository not found")) << text;
  EXPECT_EQ(sys::read_file(m_failures), "never read\n");
}

}  // namespace
}  // namespace wheelsmith::source
