#include "source/git/test_repositories.h"
#include "source/source.h"

namespace wheelsmith::source {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_top_url = "https://host/top.git";

// top has one/ (with nested two/ by a relative URL), moved/ (whose name is that of its old folder), lone/.
class Checkouts : public RepositoriesTest {
 protected:
  void SetUp() override {
    RepositoriesTest::SetUp();
    if (IsSkipped()) return;
    make_origins();
    sys::copy_tree(s_made->path(), m_origins);
    m_top = git(origin("top"), {"rev-parse", "v1.0^{commit}"});
    m_pinned = git(origin("moved"), {"rev-parse", "HEAD^"});
  }
  static void TearDownTestSuite() { s_made.reset(); }
  // Once, since it takes a while.
  static void make_origins() {
    if (s_made) return;
    s_made = std::make_unique<sys::TempDir>();
    const auto origin = [](const std::string& name) { return s_made->path() / name; };
    commit(origin("two"), "two.txt", "two");
    commit(origin("one"), "one.txt", "one");
    add_submodule(origin("one"), origin("two"), "../two.git", "deps/two");
    commit(origin("lone"), "lone.txt", "lone");
    commit(origin("moved"), "moved.txt", "old");
    commit(origin("top"), "setup.py", "top");
    add_submodule(origin("top"), origin("one"), "https://host/one", "third_party/one");
    add_submodule(origin("top"), origin("moved"), "../moved", "old_place");
    git(origin("top"), {"mv", "old_place", "third_party/moved"});
    git(origin("top"), {"commit", "-q", "-m", "moved"});
    add_submodule(origin("top"), origin("lone"), "../lone.git", "lone");
    commit(origin("moved"), "moved.txt", "new");  // the pin is not at the tip
    git(origin("top"), {"tag", "-a", "v1.0", "-m", "v1.0"});
    git(origin("top"), {"tag", "other-2.0"});
  }
  std::string checkout(std::optional<std::vector<std::string>> submodules = {}, const std::string& tag = "") {
    sys::remove_tree(m_tree);
    return error_of([&] { repositories().checkout({k_top_url, m_top, tag, tag, std::move(submodules)}, m_tree); });
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const sys::TreeFile& file : sys::list_tree(m_tree, {".git"})) names.push_back(file.name);
    return names;
  }
  static inline std::unique_ptr<sys::TempDir> s_made;  // NOLINT: gtest's way to share a fixture
  std::string m_top, m_pinned;
};

TEST_F(Checkouts, AreSelfContained) {
  ASSERT_EQ(checkout({}, "v1.0"), "no error");
  EXPECT_EQ(files(), (std::vector<std::string>{".gitmodules", "lone/lone.txt", "setup.py",
                                               "third_party/moved/moved.txt", "third_party/one/.gitmodules",
                                               "third_party/one/deps/two/two.txt", "third_party/one/one.txt"}));
  EXPECT_EQ(sys::read_file(m_tree / "third_party/moved/moved.txt"), "old");
  // Neither the store nor the origins, nor the folder where it was created.
  sys::remove_tree(m_store.root() / "git");
  sys::remove_tree(m_origins);
  const fs::path moved = m_temporary.path() / "deeper" / "moved";
  fs::create_directories(moved.parent_path());
  fs::rename(m_tree, moved);
  EXPECT_EQ(git(moved, {"rev-parse", "HEAD"}), m_top);
  EXPECT_EQ(git(moved, {"status", "--porcelain"}), "");
  EXPECT_EQ(git(moved, {"tag"}), "v1.0");
  EXPECT_EQ(git(moved, {"describe"}), "v1.0");
  EXPECT_EQ(git(moved, {"remote", "get-url", "origin"}), k_top_url);
  EXPECT_EQ(git(moved, {"rev-list", "--count", "HEAD"}), "1");
  EXPECT_EQ(git(moved / "third_party/moved", {"rev-parse", "HEAD"}), m_pinned);
  const std::string status = " " + git(moved, {"submodule", "status", "--recursive"}) + "\n";
  EXPECT_EQ(lines(status).size(), 4u) << status;
  for (const std::string_view line : lines(status)) EXPECT_TRUE(line.starts_with(' ')) << status;
  EXPECT_FALSE(fs::exists(moved / ".git/objects/info/alternates"));
  git(moved, {"fsck", "--no-dangling"});
}

TEST_F(Checkouts, HaveTheFilesOfTheOrigin) {
  ASSERT_EQ(checkout(), "no error");
  const std::string tree = git(origin("top"), {"rev-parse", "HEAD^{tree}"});
  EXPECT_EQ(git(m_tree, {"rev-parse", "HEAD^{tree}"}), tree);
  EXPECT_EQ(git(m_tree, {"write-tree"}), tree);
  EXPECT_EQ(git(m_tree, {"tag"}), "");
}

TEST_F(Checkouts, FetchOnlyWantedSubmodules) {
  sys::remove_tree(origin("lone"));  // never requested
  ASSERT_EQ(checkout(std::vector<std::string>{"third_party/one/deps/two"}), "no error");
  EXPECT_EQ(files(), (std::vector<std::string>{".gitmodules", "setup.py", "third_party/one/.gitmodules",
                                               "third_party/one/deps/two/two.txt", "third_party/one/one.txt"}));
  ASSERT_EQ(checkout(std::vector<std::string>{"third_party/"}), "no error");
  EXPECT_EQ(files().size(), 6u);
  ASSERT_EQ(checkout(std::vector<std::string>{}), "no error");
  EXPECT_EQ(files(), (std::vector<std::string>{".gitmodules", "setup.py"}));
  EXPECT_EQ(git(m_tree, {"status", "--porcelain"}), "");
  EXPECT_EQ(checkout(std::vector<std::string>{"third_party/on"}),
            "no submodule third_party/on at this ref; did you mean third_party/one?");
  EXPECT_TRUE(
      has(checkout(std::vector<std::string>{"third_party/one/nothing"}), "no submodule third_party/one/nothing"));
}

TEST_F(Checkouts, ListSubmodules) {
  const std::vector<Submodule> found = repositories().submodules(k_top_url, m_top);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].path, "lone");
  EXPECT_EQ(found[0].url, "https://host/lone.git");
  EXPECT_EQ(found[1].path, "third_party/moved");
  EXPECT_EQ(found[1].name, "old_place");
  EXPECT_EQ(found[1].commit, m_pinned);
  EXPECT_EQ(found[2].url, "https://host/one");
}

TEST_F(Checkouts, ReportAMissingPin) {
  const std::string gone(40, 'd');
  git(origin("top"), {"update-index", "--cacheinfo", "160000," + gone + ",third_party/moved"});
  git(origin("top"), {"commit", "-q", "-m", "gone"});
  m_top = git(origin("top"), {"rev-parse", "HEAD"});
  const std::string text = checkout();
  for (const std::string& part : {std::string("third_party/moved"), gone, std::string("https://host/moved")})
    EXPECT_TRUE(has(text, part)) << text;
  EXPECT_TRUE(has(text, "[mirrors]")) << text;
  EXPECT_EQ(checkout(std::vector<std::string>{"lone"}), "no error");
}

TEST_F(Checkouts, RejectHostileSubmodules) {
  const struct {
    const char *key, *value, *part;
  } cases[] = {
      {"submodule.lone.path", "../lone", "invalid name"},
      {"submodule.lone.path", "/lone", "invalid name"},
      {"submodule.lone.path", "-lone", "invalid name"},
      {"submodule.lone.path", "a/.GIT/x", "invalid name"},
      {"submodule.lone.url", "-x", "invalid name"},
      {"submodule.../x.path", "lone", "invalid name"},
      {"submodule.lone.url", "file:///etc", "this machine"},
      {"submodule.lone.url", "../../../x", "points outside"},
      {"submodule.old_place/x.path", "lone", "places it inside"},
      {"submodule.lone.url", "ext::sh -c id", "ext"},
  };
  const std::string good = sys::read_file(origin("top") / ".gitmodules");
  for (const auto& one : cases) {
    sys::write_file(origin("top") / ".gitmodules", good);
    git(origin("top"), {"config", "-f", ".gitmodules", one.key, one.value});
    if (std::string_view(one.key).ends_with(".path")) {
      const std::string section = std::string(one.key).substr(0, std::string(one.key).rfind('.'));
      git(origin("top"), {"config", "-f", ".gitmodules", section + ".url", "../lone.git"});
      if (section != "submodule.lone")
        git(origin("top"), {"config", "-f", ".gitmodules", "--remove-section", "submodule.lone"});
    }
    git(origin("top"), {"commit", "-q", "-a", "-m", one.value});
    m_top = git(origin("top"), {"rev-parse", "HEAD"});
    const std::string text = checkout();
    EXPECT_TRUE(has(text, one.part)) << one.key << "=" << one.value << ": " << text;
  }
}

TEST_F(Checkouts, StandInForPins) {
  fetch::FetchOptions options;
  options.mirrors = m_mirrors;
  fetch::Fetcher fetcher(m_store, options);
  recipe::Recipe recipe;
  recipe.name = recipe.project = "top";
  recipe.source.kind = recipe::Source::Kind::git;
  recipe.source.url = k_top_url;
  recipe.source.ref = "other-2.0";
  recipe.source.submodules = std::vector<std::string>{"lone"};
  const Pin made = pin(recipe, {}, fetcher, m_store, {});
  EXPECT_EQ(made.git_tag, "other-2.0");
  EXPECT_EQ(made.version, "");
  EXPECT_EQ(made.digest, "git:" + m_top + "@other-2.0,lone");
  EXPECT_EQ(file_at(made, "setup.py", fetcher, m_store), "top");
  EXPECT_EQ(file_at(made, "absent", fetcher, m_store), std::nullopt);
  materialize(made, {}, fetcher, m_store, m_tree);
  EXPECT_EQ(git(m_tree, {"describe", "--tags"}), "other-2.0");
  EXPECT_EQ(files(), (std::vector<std::string>{".gitmodules", "lone/lone.txt", "setup.py"}));
  EXPECT_TRUE(look_into(made, "", fetcher, m_store).has_setup_py);
}

}  // namespace
}  // namespace wheelsmith::source
