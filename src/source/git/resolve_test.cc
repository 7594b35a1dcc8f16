#include "source/git/git.h"
#include "source/git/test_repositories.h"

namespace wheelsmith::source {
namespace {

class Resolving : public RepositoriesTest {
 protected:
  void SetUp() override {
    RepositoriesTest::SetUp();
    if (IsSkipped()) return;
    m_first = commit(origin("a"), "f", "1");
    git(origin("a"), {"tag", "-a", "v1.0", "-m", "v1.0"});
    git(origin("a"), {"tag", "stable"});
    git(origin("a"), {"branch", "release/1.0"});
    m_second = commit(origin("a"), "f", "2");
    git(origin("a"), {"branch", "v1.0"});  // tags take precedence
    git(origin("a"), {"update-ref", "refs/pull/7/head", m_first});
  }
  std::string m_first, m_second;
};

TEST_F(Resolving, ResolvesRefsLikeGit) {
  const struct {
    const char *ref, *kind, *name;
    const std::string& id;
  } cases[] = {
      {"v1.0", "tag", "v1.0", m_first},
      {"refs/tags/v1.0", "tag", "v1.0", m_first},
      {"tags/stable", "tag", "stable", m_first},
      {"heads/v1.0", "branch", "v1.0", m_second},
      {"refs/heads/v1.0", "branch", "v1.0", m_second},
      {"release/1.0", "branch", "release/1.0", m_first},
      {"main", "branch", "main", m_second},
      {"", "branch", "main", m_second},
      {"refs/pull/7/head", "branch", "refs/pull/7/head", m_first},
  };
  for (const auto& one : cases) {
    const Commit found = repositories().resolve(k_url, one.ref);
    EXPECT_EQ(found.id, one.id) << one.ref;
    EXPECT_EQ(to_string(found.ref_kind), one.kind) << one.ref;
    EXPECT_EQ(found.name, one.name) << one.ref;
    const std::vector<std::string> tags = {"stable", "v1.0"};
    EXPECT_EQ(found.tags, one.id == m_first ? tags : std::vector<std::string>{}) << one.ref;
  }
  EXPECT_EQ(repositories().resolve(k_url, m_first).ref_kind, RefKind::commit);
}

TEST_F(Resolving, ResolvesCommitPrefixes) {
  const Commit found = repositories().resolve(k_url, m_first.substr(0, 7));
  EXPECT_EQ(found.id, m_first);
  EXPECT_EQ(found.ref_kind, RefKind::commit);
  const std::string unknown = error_of([&] { (void)repositories().resolve(k_url, "0123456"); });
  EXPECT_TRUE(has(unknown, "all 40 digits")) << unknown;
  EXPECT_NE(error_of([&] { (void)repositories().resolve(k_url, m_first.substr(0, 6)); }), "no error");
}

TEST_F(Resolving, UsesRemoteBranchesOfAMirrorClone) {
  git(m_origins, {"clone", "-q", "a", "clone"});
  EXPECT_EQ(repositories().resolve("https://host/clone", "release/1.0").id, m_first);
}

TEST_F(Resolving, SuggestsSimilarRefs) {
  const std::string slip = error_of([&] { (void)repositories().resolve(k_url, "v1.1"); });
  EXPECT_TRUE(has(slip, "has no branch or tag v1.1")) << slip;
  EXPECT_TRUE(has(slip, "similar: v1.0")) << slip;
  const std::string part = error_of([&] { (void)repositories().resolve(k_url, "release"); });
  EXPECT_TRUE(has(part, "release/1.0")) << part;
  EXPECT_FALSE(has(error_of([&] { (void)repositories().resolve(k_url, "zzzzzzzzz"); }), "similar"));
}

TEST_F(Resolving, KeepsAnswersUntilUpgrade) {
  EXPECT_EQ(repositories().resolve(k_url, "main").id, m_second);
  const std::string third = commit(origin("a"), "f", "3");
  EXPECT_EQ(repositories().resolve(k_url, "main").id, m_second);
  EXPECT_EQ(repositories().resolve(k_url, "main", true).id, third);
  EXPECT_EQ(repositories().resolve(k_url, "main").id, third);
}

TEST_F(Resolving, ExplainsUnreachableRepositories) {
  const std::string gone = error_of([&] { (void)repositories().resolve("file:///nowhere/at/all.git", "main"); });
  EXPECT_TRUE(has(gone, "does not appear to be a git repository")) << gone;
  EXPECT_TRUE(has(gone, "[mirrors]")) << gone;
  EXPECT_TRUE(has(gone, "--source")) << gone;
  EXPECT_FALSE(has(gone, "\n")) << gone;
  const std::string offline =
      error_of([&] { (void)repositories(true).resolve("https://me:secret@other.invalid/a", "main"); });
  EXPECT_TRUE(has(offline, "--offline")) << offline;
  EXPECT_FALSE(has(offline, "secret")) << offline;
  // A folder is not the network.
  EXPECT_EQ(repositories(true).resolve(k_url, "main").id, m_second);
  for (const char* url : {"ext::sh -c id", "git://host.invalid/x", "--upload-pack=id"})
    EXPECT_NE(error_of([&] { (void)repositories().resolve(url, "main"); }), "no error") << url;
}

TEST(TagVersions, Parse) {
  const struct {
    const char *tag, *project, *version;
  } cases[] = {
      {"v1.2.3", "demo", "1.2.3"},
      {"1.2", "demo", "1.2"},
      {"demo-1.2", "demo", "1.2"},
      {"demo-v1.2", "demo", "1.2"},
      {"My_Demo-v1.2-rc1", "my-demo", "1.2rc1"},
      {"release-1.2", "demo", "1.2"},
      {"release/v1.2", "demo", "1.2"},
      {"demo/v2", "demo", "2"},
      {"other-1.2", "demo", ""},
      {"nightly", "demo", ""},
      {"", "demo", ""},
      {"v", "", ""},
  };
  for (const auto& one : cases) EXPECT_EQ(version_of_tag(one.tag, one.project), one.version) << one.tag;
}

}  // namespace
}  // namespace wheelsmith::source
