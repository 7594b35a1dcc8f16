#include "source/patches/patch.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "base/error.h"
#include "source/patches/patch_work.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::source {
namespace {

namespace fs = std::filesystem;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string diff_of(const std::string& name, const std::string& hunk) {
  return "--- a/" + name + "\n+++ b/" + name + "\n" + hunk;
}

const char* const k_hunk = "@@ -2,1 +2,1 @@\n-two\n+zwei\n";

TEST(PatchNames, ListsTouchedFiles) {
  const std::vector<PatchedFile> files = read_patch(
      "From 1234 Mon Sep 17\nSubject: x\n\ndiff --git a/setup.py b/setup.py\nindex 1..2 100644\n--- a/setup.py\t2020\n"
      "+++ b/setup.py\t2021\n@@ -1,3 +1,3 @@ def f\n a\n--- ../../no header\n+++ /no/header\n c\n@@ -40 +40,2 "
      "@@\n-x\n+y\n+z\n"
      "\\ No newline at end of file\ndiff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
      "--- /dev/null\n+++ \"b/\\303\\244 b\"\n@@ -0,0 +1 @@\n+n\nrename to new/name\n");
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0].name, "setup.py");
  EXPECT_EQ(files[0].hunks, (std::vector<std::uint64_t>{1, 40}));
  EXPECT_EQ(files[1].name, "run");
  EXPECT_EQ(files[2].name, "\xc3\xa4 b");
  EXPECT_EQ(files[3].name, "new/name");
}

TEST(PatchNames, RejectsHostilePatches) {
  const std::pair<std::string, std::string> cases[] = {
      {diff_of("../../etc/passwd", k_hunk), "is outside the source"},
      {"--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", "an absolute path"},
      {diff_of(".git/hooks/post-checkout", k_hunk), "belongs to git"},
      {diff_of("x/.GIT/config", k_hunk), "belongs to git"},
      {"--- \"a/\\056\\056/x\"\n+++ \"a/\\056./x\"\n@@ -1 +1 @@\n-a\n+b\n", "is outside the source"},
      {"diff --git a/x b/x\nrename from x\nrename to ../y\n", "is outside the source"},
      {"diff --git a/../x b/../x\nnew file mode 100644\n", "is outside the source"},
      {"diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
       "a link or a submodule"},
      {"diff --git a/l b/l\nindex 1..2 120000\n--- a/l\n+++ b/l\n@@ -1 +1 @@\n-x\n+/etc\n", "a link or a submodule"},
      {"no diff at all\n", "it contains no diff"},
      {"", "it contains no diff"},
      {"@@ -1 +1 @@\n-a\n+b\n", "has no file"},
      {diff_of("x", "@@ -1,9 +1,9 @@\n a\n"), "truncated in the middle of a hunk"},
      {diff_of("x", "@@ -1,2 +1,2 @@\n a\n?\n"), "malformed"},
      {diff_of("x", "@@ -99999999999999999999 +1 @@\n-a\n"), "no error"},
  };
  for (const auto& [text, error] : cases) {
    const std::string said = error_of([&] { (void)read_patch(text); });
    EXPECT_NE(said.find(error), std::string::npos) << text << said;
  }
}

const char* const k_text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n";
const char* const k_second_fails =
    "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -7,3 +7,3 @@\n seven\n-acht\n+8\n nine\n";

class Patches : public ::testing::Test {
 protected:
  void SetUp() override {
    if (sys::find_program("git").empty()) GTEST_SKIP() << "no git";
    fs::create_directories(m_folder / "src");
    sys::write_file(m_folder / "src/a.txt", "one\ntwo\nthree\n");
  }
  std::string apply(const std::vector<Patch>& patches) const {
    return error_of([&] { apply_patches(m_folder, patches); });
  }
  std::string text() const { return sys::read_file(m_folder / "src/a.txt"); }
  sys::TempDir m_temporary;
  fs::path m_folder = m_temporary.path() / "tree";
};

TEST_F(Patches, ApplyInOrder) {
  EXPECT_EQ(apply({{"1.patch", diff_of("src/a.txt", "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n")},
                   {"2.patch", diff_of("src/a.txt", "@@ -1,3 +1,3 @@\n one\n-zwei\n+deux\n three\n")},
                   {"3.patch", "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n"}}),
            "no error");
  EXPECT_EQ(text(), "one\ndeux\nthree\n");
  EXPECT_EQ(sys::read_file(m_folder / "new.txt"), "new\n");
}

TEST_F(Patches, ReportWhereTheyFail) {
  sys::write_file(m_folder / "src/a.txt", k_text);
  EXPECT_EQ(apply({{"bad.patch", diff_of("src/a.txt", k_second_fails)}}),
            "patch bad.patch does not apply: src/a.txt, hunk 2 (line 7): it expects \"acht\", but line 8 is "
            "\"eight\"");
  EXPECT_EQ(text(), k_text);
  EXPECT_EQ(apply({{"gone.patch", diff_of("src/b.txt", k_hunk)}}),
            "patch gone.patch does not apply: src/b.txt, No such file or directory");
  EXPECT_EQ(apply({{"evil.patch", diff_of("../x", k_hunk)}}),
            "patch evil.patch: it touches a/../x, which is outside the source");
}

TEST_F(Patches, ReportWhenAlreadyApplied) {
  const Patch patch{"1.patch", diff_of("src/a.txt", "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n")};
  EXPECT_EQ(apply({patch}), "no error");
  EXPECT_NE(apply({patch}).find("patch 1.patch is already applied"), std::string::npos);
}

TEST_F(Patches, ApplyBelowARepositoryToo) {
  // There `git apply` would silently skip files that it considers part of the repository above.
  ASSERT_TRUE(sys::capture({.argv = {"git", "init", "-q", m_temporary.path().string()}}).exit.good());
  EXPECT_EQ(apply({{"1.patch", diff_of("src/a.txt", "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n")}}), "no error");
  EXPECT_EQ(text(), "one\nzwei\nthree\n");
}

TEST_F(Patches, UsePatchWithoutGit) {
  sys::write_file(m_folder / "src/a.txt", k_text);
  const fs::path patch = sys::find_program("patch");
  if (patch.empty()) GTEST_SKIP() << "no patch";
  const fs::path bin = m_temporary.path() / "bin";
  fs::create_directories(bin);
  fs::create_symlink(patch, bin / "patch");
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", bin.c_str(), 1);
  const Patch good{"1.patch", diff_of("src/a.txt", "@@ -1,5 +1,5 @@\n one\n-two\n+zwei\n three\n four\n five\n")};
  const std::string bad = apply({{"bad.patch", diff_of("src/a.txt", k_second_fails)}});
  const std::string first = apply({good});
  const std::string second = apply({good});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(bad,
            "patch bad.patch does not apply: src/a.txt, hunk 2 (line 7): it expects \"acht\", but line 8 is "
            "\"eight\"");
  EXPECT_EQ(first, "no error");
  EXPECT_NE(second.find("is already applied"), std::string::npos) << second;
  EXPECT_EQ(text().substr(0, 15), "one\nzwei\nthree\n");
}

// A repository inside the source, under names that git could mistake for its own.
TEST(ApplyPatches, RunsNoFilterOfTheSource) {
  const sys::TempDir folder;
  const fs::path source = folder.path() / "source", marker = folder.path() / "marker";
  for (const char* name : {".git", ".wheelsmith-no-repository"}) {
    for (const char* part : {"objects", "refs/heads"}) sys::make_folders(source / name / part);
    sys::write_file(source / name / "HEAD", "ref: refs/heads/main\n");
    sys::write_file(source / name / "config",
                    "[core]\n\trepositoryformatversion = 0\n[filter \"x\"]\n\tclean = touch " + marker.string() +
                        "; cat\n\tsmudge = touch " + marker.string() + "; cat\n");
  }
  sys::write_file(source / ".gitattributes", "* filter=x\n");
  sys::write_file(source / "text", "one\ntwo\nthree\n");
  apply_patches(source, {{.name = "p", .text = diff_of("text", "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n")}});
  EXPECT_EQ(sys::read_file(source / "text"), "one\nzwei\nthree\n");
  EXPECT_FALSE(fs::exists(marker));
}

TEST(ApplyPatches, StaysInTheSource) {
  const sys::TempDir folder;
  sys::make_folders(folder.path() / "source");
  sys::make_folders(folder.path() / "outside");
  sys::write_file(folder.path() / "outside/text", "one\ntwo\n");
  fs::create_directory_symlink(folder.path() / "outside", folder.path() / "source/part");
  const Patch patch{.name = "p", .text = diff_of("text", "@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n"), .folder = "part"};
  EXPECT_NE(error_of([&] { apply_patches(folder.path() / "source", {patch}); }).find("points outside the source"),
            std::string::npos);
  EXPECT_EQ(sys::read_file(folder.path() / "outside/text"), "one\ntwo\n");
}

TEST(FindPatchFolder, ReportsWhenAFolderWasOnlyFound) {
  const sys::TempDir folder;
  const fs::path& top = folder.path();
  for (const char* name : {"project/here", "recipes"}) sys::make_folders(top / name);
  const auto found = [&](const fs::path& project, const fs::path& current) {
    const PatchFolder one = find_patch_folder({project, current, top / "recipes"});
    return one.path.lexically_relative(top).string() + (one.only_found ? " only found" : "");
  };
  const fs::path project = top / "project", here = top / "project/here";
  EXPECT_EQ(found({}, here), "project/here/patches only found");  // where `patches save` writes
  EXPECT_EQ(found(project, here), "project/patches");
  sys::make_folders(top / "patches");
  EXPECT_EQ(found({}, here), "patches");  // beside the recipes
  sys::make_folders(here / "patches");
  EXPECT_EQ(found({}, here), "project/here/patches only found");
  EXPECT_EQ(found(project, here), "project/here/patches only found");
  EXPECT_EQ(found(here, here), "project/here/patches");
  sys::make_folders(project / "patches");
  EXPECT_EQ(found(project, here), "project/patches");
  EXPECT_EQ(found({}, here), "project/here/patches only found");             // never above
  EXPECT_FALSE(find_patch_folder({{}, here, here / "recipes"}).only_found);  // beside the user's recipes
  EXPECT_TRUE(find_patch_folder({{}, here, here / "more" / "recipes"}).only_found);
}

}  // namespace
}  // namespace wheelsmith::source
