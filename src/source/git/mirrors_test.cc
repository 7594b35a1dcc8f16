#include "source/git/mirrors.h"

#include <unistd.h>

#include "source/git/submodules.h"
#include "source/git/test_repositories.h"

namespace wheelsmith::source {
namespace {

namespace fs = std::filesystem;

TEST(MirrorMap, UsesTheLongestPrefixAtAComponentBoundary) {
  const Mirrors mirrors({{"https://a/", "https://m/all"},
                         {"https://a/x", "https://n/"},
                         {"https://a/x/y.git", "ssh://o/z.git"},
                         {"git@a:", "https://p"},
                         {"https://h/", "http://q"}});
  const struct {
    const char *url, *address;
  } cases[] = {
      {"https://a/q/r.git", "https://m/all/q/r.git"},
      {"https://a/x/r", "https://n/r"},
      {"https://a/x/y", "ssh://o/z.git"},
      {"https://a/x/y.git", "ssh://o/z.git"},
      {"https://a/x/y.git/", "ssh://o/z.git"},
      {"https://a/x/yz.git", "https://n/yz.git"},
      {"https://a/xy", "https://m/all/xy"},
      {"https://ab/x", "https://ab/x"},
      {"git@a:x/y.git", "https://p/x/y.git"},
  };
  for (const auto& one : cases) EXPECT_EQ(mirrors.place(one.url).address, one.address) << one.url;
  EXPECT_EQ(mirrors.place("https://a/q").protocols(), "https:ssh");
  EXPECT_EQ(mirrors.place("https://h/q").protocols(), "http:https:ssh");
  EXPECT_EQ(mirrors.place("http://other/q").protocols(), "https:ssh");
  EXPECT_EQ(mirrors.place("/q").protocols(), "file");
  EXPECT_FALSE(mirrors.has_folders());
}

TEST(MirrorMap, RecognizesLocalUrls) {
  for (const char* url : {"/a", "a/b", "file:///a", "FILE:///a", "~/x", "./a:b"}) EXPECT_TRUE(is_local(url)) << url;
  for (const char* url : {"https://a/b", "ssh://a/b", "git@a:b", "ext::sh -c id"}) EXPECT_FALSE(is_local(url)) << url;
  EXPECT_EQ(repository_name("https://u:p@a/b.git/"), "https://a/b");
}

class MirrorFolders : public RepositoriesTest {};

TEST_F(MirrorFolders, ContainRepositoriesInAllLayouts) {
  fs::create_directories(m_origins);
  commit(origin("a/plain"), "f", "1");
  git(m_origins, {"clone", "-q", "--bare", "a/plain", "a/bare.git"});
  git(m_origins, {"clone", "-q", "--bare", "a/plain", "a/odd"});
  git(m_origins, {"clone", "-q", "a/plain", "a/files.git"});
  m_mirrors["https://else/x/y"] = origin("a/bare.git").string();
  m_mirrors["https://else/x/z.git"] = origin("a/plain").string();
  const Mirrors mirrors(m_mirrors);
  const struct {
    const char *url, *folder;
  } cases[] = {
      {"https://host/a/plain.git", "a/plain"},   {"https://host/a/plain", "a/plain"},
      {"https://host/a/bare.git", "a/bare.git"}, {"https://host/a/bare", "a/bare.git"},
      {"https://host/a/odd.git", "a/odd"},       {"https://host/a/files.git", "a/files.git"},
      {"https://else/x/y.git", "a/bare.git"},    {"https://else/x/z", "a/plain"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(mirrors.place(one.url).address, origin(one.folder)) << one.url;
    EXPECT_TRUE(mirrors.place(one.url).local);
  }
  const std::string gone = error_of([&] { (void)mirrors.place("https://host/a/none.git"); });
  EXPECT_TRUE(has(gone, "https://host/a/none.git")) << gone;
  EXPECT_TRUE(has(gone, origin("a/none.git").string())) << gone;
  EXPECT_NE(error_of([&] { (void)mirrors.place("https://host/../origins/a/plain"); }), "no error");
  // git inside a build finds them, too.
  sys::Environment environment = sys::current_environment();
  for (const auto& [name, value] : repositories().build_variables()) environment[name] = value;
  for (const auto& one : cases) {
    const sys::Captured answer =
        sys::capture({.argv = {"git", "ls-remote", one.url, "HEAD"}, .environment = environment, .folder = m_origins});
    EXPECT_TRUE(answer.exit.good()) << one.url << answer.errors;
  }
}

TEST_F(MirrorFolders, MayBelongToOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can chown files";
  const std::string id = commit(origin("a"), "f", "1");
  for (const auto& entry : fs::recursive_directory_iterator(m_origins))
    EXPECT_EQ(::chown(entry.path().c_str(), 4711, 4711), 0);
  EXPECT_FALSE(try_git(m_temporary.path(), {"ls-remote", origin("a").string()}).exit.good());
  Repositories own = repositories();
  EXPECT_EQ(own.resolve("https://host/a", "main").id, id);
  EXPECT_EQ(own.resolve("https://host/a", id.substr(0, 8)).id, id);
  EXPECT_EQ(own.file("https://host/a", id, "f"), "1");
  sys::Environment environment = sys::current_environment();
  for (const auto& [name, value] : own.build_variables()) environment[name] = value;
  const sys::Captured clone = sys::capture({.argv = {"git", "clone", "-q", "https://host/a.git", m_tree.string()},
                                            .environment = environment,
                                            .folder = m_temporary.path()});
  EXPECT_TRUE(clone.exit.good()) << clone.errors;
}

TEST(SubmoduleUrls, AreRelativeToTheParent) {
  const struct {
    const char *parent, *url, *result;
  } cases[] = {
      {"https://host/x/a.git", "../b.git", "https://host/x/b.git"},
      {"https://host/x/a.git/", "../../y/b", "https://host/y/b"},
      {"https://host/x/a.git", "./b", "https://host/x/a.git/b"},
      {"https://host/x/a.git", "https://other/b", "https://other/b"},
      {"git@host:x/a.git", "../b.git", "git@host:x/b.git"},
      {"git@host:x/a.git", "../../b.git", "git@host:b.git"},
      {"/srv/x/a", "../b", "/srv/x/b"},
      {"file:///srv/a", "../b", "file:///srv/b"},
  };
  for (const auto& one : cases) EXPECT_EQ(submodule_url(one.parent, one.url), one.result) << one.url;
  EXPECT_TRUE(has(error_of([] { (void)submodule_url("https://host/a", "../../b"); }), "points outside"));
}

}  // namespace
}  // namespace wheelsmith::source
