#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/hash.h"
#include "source/git/git.h"
#include "source/git/test_repositories.h"
#include "source/source.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"
#include "testing/tar_builder.h"

namespace wheelsmith::source {
namespace {

namespace fs = std::filesystem;
using testing::gzip;
using testing::TarBuilder;

std::string sdist(const std::string& version, const std::string& inside) {
  return gzip(TarBuilder()
                  .add("demo-" + version + "/PKG-INFO", "Metadata-Version: 2.1\nName: demo\nVersion: " + inside + "\n")
                  .add("demo-" + version + "/setup.py", "from setuptools import setup\nsetup()\n")
                  .build());
}

class Pins : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(m_links);
    m_recipe.name = m_recipe.project = m_recipe.source.project = "demo";
    m_options.python_version = "3.11";
  }
  fetch::Fetcher fetcher() {
    fetch::FetchOptions options;
    options.index.no_index = true;
    options.index.find_links = {m_links.string()};
    return fetch::Fetcher(m_store, options);
  }
  Pin pinned(const std::optional<Override>& user = {}) {
    fetch::Fetcher own = fetcher();
    return pin(m_recipe, user, own, m_store, m_options);
  }
  std::string materialized(const Pin& what, const std::vector<Patch>& patches = {}) {
    fetch::Fetcher own = fetcher();
    fs::remove_all(m_tree);
    return error_of([&] { materialize(what, patches, own, m_store, m_tree); });
  }
  void git(const fs::path& folder, std::vector<std::string> arguments) const {
    std::vector<std::string> argv = {
        "git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const sys::Captured result = sys::capture({.argv = argv, .folder = folder});
    ASSERT_TRUE(result.exit.good()) << result.errors;
  }
  void make_repository(const fs::path& folder) const {
    fs::create_directories(folder);
    git(folder, {"init", "-q", "-b", "main"});
    sys::write_file(folder / "setup.py", "one\n");
    git(folder, {"add", "."});
    git(folder, {"commit", "-q", "-m", "one"});
    git(folder, {"tag", "-a", "v1", "-m", "v1"});
  }

  sys::TempDir m_temporary;
  fs::path m_links = m_temporary.path() / "links";
  fs::path m_tree = m_temporary.path() / "tree";
  store::Store m_store{m_temporary.path() / "store"};
  recipe::Recipe m_recipe;
  PinOptions m_options;
};

// Files in the current folder may come from anyone: NAME==VERSION never means a file of that name.
TEST(Override, AVersionIsNeverAFile) {
  const sys::TempDir folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  sys::make_folders("demo==1.0");
  EXPECT_EQ(parse_override("demo==1.0").specifier, "==1.0");
  EXPECT_EQ(parse_override("x=demo==1.0").specifier, "==1.0");
  EXPECT_EQ(parse_override("./demo==1.0").path, folder.path() / "demo==1.0");
  fs::current_path(before);
}

TEST_F(Pins, ChooseAndKeepTheNewest) {
  sys::write_file(m_links / "demo-1.0.tar.gz", sdist("1.0", "1.0"));
  Pin first = pinned();
  EXPECT_EQ(first.version, "1.0");
  EXPECT_EQ(first.digest, "sha256:" + to_hex(sha256(Bytes(sdist("1.0", "1.0")))));
  sys::write_file(m_links / "demo-1.1.tar.gz", sdist("1.1", "1.1"));
  EXPECT_EQ(pinned().version, "1.0");
  m_options.upgrade = true;
  EXPECT_EQ(pinned().version, "1.1");
  m_options.upgrade = false;
  EXPECT_EQ(pinned().version, "1.1");
  m_recipe.source.version = "1.0";
  EXPECT_EQ(pinned().version, "1.0");
  m_recipe.source.version = "9";
  EXPECT_NE(error_of([&] { (void)pinned(); }).find("demo"), std::string::npos);
}

TEST_F(Pins, BecomeFoldersWithPatches) {
  sys::write_file(m_links / "demo-1.0.tar.gz", sdist("1.0", "1.0"));
  const Patch patch{"p",
                    "--- a/setup.py\n+++ b/setup.py\n@@ -1,2 +1,2 @@\n from setuptools import setup\n-setup()\n+x\n"};
  EXPECT_EQ(materialized(pinned(), {patch}), "no error");
  EXPECT_EQ(sys::read_file(m_tree / "setup.py"), "from setuptools import setup\nx\n");
  // A failing patch leaves nothing that looks like a source.
  EXPECT_NE(materialized(pinned(), {patch, patch}).find("already applied"), std::string::npos);
  EXPECT_FALSE(fs::exists(m_tree));
}

TEST_F(Pins, DetectInconsistentVersions) {
  sys::write_file(m_links / "demo-1.0.tar.gz", sdist("1.0", "2.0"));
  const std::string lie =
      "demo-1.0.tar.gz has inconsistent versions: its file name says 1.0, but its PKG-INFO says 2.0";
  EXPECT_EQ(materialized(pinned()), lie);
  EXPECT_EQ(error_of([&] { (void)pinned(parse_override((m_links / "demo-1.0.tar.gz").string())); }), lie);
  fetch::Fetcher own = fetcher();
  EXPECT_EQ(error_of([&] { (void)look_into(pinned(), "", own, m_store); }), lie);
}

TEST_F(Pins, AcceptArchivesAndUrls) {
  const fs::path file = m_temporary.path() / "demo-3.0.tar.gz";
  sys::write_file(file, sdist("3.0", "3.0"));
  const Pin disk = pinned(parse_override("demo=" + file.string()));
  EXPECT_EQ(disk.version, "3.0");
  EXPECT_FALSE(disk.incremental);
  EXPECT_EQ(materialized(disk), "no error");
  EXPECT_TRUE(fs::exists(m_tree / "setup.py"));
  const Pin url = pinned(parse_override("file://" + file.string()));
  EXPECT_EQ(url.digest, disk.digest);
  EXPECT_EQ(url.version, "3.0");
  const Pin wrong = pinned(parse_override("file://" + file.string() + "#sha256=" + std::string(64, 'a')));
  EXPECT_NE(materialized(wrong).find(std::string(64, 'a')), std::string::npos);
  EXPECT_FALSE(fs::exists(m_tree));
}

TEST_F(Pins, TreatAUsersFolderAsIncremental) {
  const fs::path folder = m_temporary.path() / "mine";
  fs::create_directories(folder);
  sys::write_file(folder / "pyproject.toml", "[project]\nname = \"demo\"\nversion = \"5\"\n");
  const Pin mine = pinned(parse_override(folder.string() + "/"));
  EXPECT_EQ(mine.folder, folder);
  EXPECT_TRUE(mine.incremental);
  EXPECT_EQ(mine.version, "5");
  EXPECT_EQ(mine.digest, folder_digest(folder, m_store).digest);
  EXPECT_EQ(mine.files, folder_digest(folder, m_store).files);
  m_recipe.source.kind = recipe::Source::Kind::folder;
  m_recipe.source.folder = "mine";
  m_options.example_folders = {m_temporary.path() / "absent", m_temporary.path()};
  const Pin theirs = pinned();
  EXPECT_EQ(theirs.folder, folder);
  EXPECT_FALSE(theirs.incremental);
  EXPECT_EQ(materialized(theirs), "no error");
  EXPECT_TRUE(fs::exists(m_tree / "pyproject.toml"));
  m_recipe.source.folder = "nowhere";
  EXPECT_NE(error_of([&] { (void)pinned(); }).find("--source demo=FOLDER"), std::string::npos);
}

TEST_F(Pins, KeepGitRefsUntilUpgrade) {
  if (sys::find_program("git").empty()) GTEST_SKIP() << "no git";
  const fs::path repository = m_temporary.path() / "repository";
  make_repository(repository);
  const std::string url = "file://" + repository.string();
  const Pin branch = pinned(parse_override("git+" + url + "@main"));
  EXPECT_EQ(branch.git_commit.size(), 40u);
  EXPECT_EQ(branch.digest, "git:" + branch.git_commit);
  // An annotated tag resolves to its commit, not to itself.
  const Pin tag = pinned(parse_override("git+" + url + "@v1"));
  EXPECT_EQ(tag.git_commit, branch.git_commit);
  EXPECT_EQ(tag.git_tag, "v1");
  EXPECT_EQ(tag.version, "1");
  EXPECT_EQ(tag.digest, "git:" + branch.git_commit + "@v1");
  EXPECT_EQ(pinned(parse_override("git+" + url)).digest, branch.digest);
  sys::write_file(repository / "setup.py", "two\n");
  git(repository, {"commit", "-q", "-a", "-m", "two"});
  EXPECT_EQ(pinned(parse_override("git+" + url + "@main")).git_commit, branch.git_commit);
  EXPECT_EQ(materialized(branch), "no error");
  EXPECT_EQ(sys::read_file(m_tree / "setup.py"), "one\n");
  m_options.upgrade = true;
  EXPECT_NE(pinned(parse_override("git+" + url + "@main")).git_commit, branch.git_commit);
  EXPECT_NE(
      error_of([&] { (void)pinned(parse_override("git+" + url + "@absent")); }).find("has no branch or tag absent"),
      std::string::npos);
}

TEST_F(Pins, FetchSubmodulesAndRejectEscapes) {
  if (sys::find_program("git").empty()) GTEST_SKIP() << "no git";
  const fs::path inner = m_temporary.path() / "inner";
  const fs::path outer = m_temporary.path() / "outer";
  make_repository(inner);
  make_repository(outer);
  git(outer, {"submodule", "-q", "add", "file://" + inner.string(), "third_party/inner"});
  git(outer, {"commit", "-q", "-m", "submodule"});
  EXPECT_EQ(materialized(pinned(parse_override("git+file://" + outer.string()))), "no error");
  EXPECT_EQ(sys::read_file(m_tree / "third_party/inner/setup.py"), "one\n");
  fs::create_symlink("/etc", outer / "etc");
  git(outer, {"add", "etc"});
  git(outer, {"commit", "-q", "-m", "link"});
  m_options.upgrade = true;
  EXPECT_NE(materialized(pinned(parse_override("git+file://" + outer.string()))).find("outside the repository"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(m_tree));
}

TEST(GitUrls, Parse) {
  const struct {
    const char *text, *url, *ref;
  } cases[] = {
      {"git+https://host/a/b.git@v1.2", "https://host/a/b.git", "v1.2"},
      {"git+https://host/a/b.git", "https://host/a/b.git", ""},
      {"git+ssh://git@host/a/b", "ssh://git@host/a/b", ""},
      {"git+ssh://git@host/a/b@main#egg=x", "ssh://git@host/a/b", "main"},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(parse_git_url(one.text).url, one.url) << one.text;
    EXPECT_EQ(parse_git_url(one.text).ref, one.ref) << one.text;
  }
}

TEST(Overrides, Parse) {
  const auto told = [](const std::string& text) {
    try {
      const Override o = parse_override(text);
      return o.name + "|" + o.path.string() + "|" + o.url + "|" + o.project + "|" + o.specifier;
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(told("demo==1.2"), "|||demo|==1.2");
  EXPECT_EQ(told("fa=flash-attn==2.8.3"), "fa|||flash-attn|==2.8.3");
  EXPECT_EQ(told("demo>=1,<2"), "|||demo|>=1,<2");
  EXPECT_EQ(told("https://host/x.tar.gz#sha256=abc"), "||https://host/x.tar.gz#sha256=abc||");
  EXPECT_EQ(told("x=git+ssh://git@host/y@main"), "x||git+ssh://git@host/y@main||");
  EXPECT_EQ(told("https://u:p@host/x.git"), "https://host/x.git looks like a repository; use git+https://host/x.git");
  EXPECT_EQ(told("git+ext://x"), "ext://x: unsupported protocol \"ext\"; use https, ssh or file");
  EXPECT_EQ(told("./absent"), "--source ./absent: no such file or folder");
  EXPECT_EQ(told("demo"), "--source demo is not an existing file or folder, a URL, or NAME==VERSION");
  EXPECT_EQ(told(""), "--source  is not an existing file or folder, a URL, or NAME==VERSION");
  sys::TempDir temporary;
  const std::string odd = (temporary.path() / "a==1").string();
  fs::create_directories(odd);
  EXPECT_EQ(told(odd), "|" + odd + "|||");
  EXPECT_EQ(told("n=" + odd), "n|" + odd + "|||");
}

}  // namespace
}  // namespace wheelsmith::source
