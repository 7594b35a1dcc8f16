#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/fd.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;

const std::string k_odd = "odd \n\xff'\"\x01";

// A folder with everything that a source tree may contain.
void make_tree(const fs::path& root) {
  make_folders(root / "sub/empty");
  std::ofstream(root / "a") << "aa";
  std::ofstream(root / "sub/tool") << "#!/bin/sh\n";
  fs::permissions(root / "sub/tool", static_cast<fs::perms>(0754));
  std::ofstream(root / k_odd) << "odd";
  fs::create_symlink("../a", root / "sub/link");
  fs::create_symlink("nowhere", root / "dangling");
  fs::create_directory_symlink(".", root / "loop");
  make_folders(root / ".git/objects");
  std::ofstream(root / ".git/objects/x") << "x";
  make_folders(root / "locked/inner");
  std::ofstream(root / "locked/inner/file") << "f";
  fs::permissions(root / "locked/inner", static_cast<fs::perms>(0500));
  fs::permissions(root / "locked", static_cast<fs::perms>(0500));
}

std::vector<std::string> names(const std::vector<TreeFile>& files) {
  std::vector<std::string> result;
  for (const TreeFile& file : files) result.push_back(file.name);
  return result;
}

TEST(ListTree, SortsByBytesAndListsLinks) {
  const TempDir dir;
  make_tree(dir.path() / "t");
  const std::vector<TreeFile> files = list_tree(dir.path() / "t", {".git"});
  EXPECT_EQ(names(files),
            (std::vector<std::string>{"a", "dangling", "locked/inner/file", "loop", k_odd, "sub/link", "sub/tool"}));
  EXPECT_EQ(files[0].size, 2u);
  EXPECT_FALSE(files[0].executable);
  EXPECT_TRUE(files[1].link);
  EXPECT_EQ(files[1].link_target, "nowhere");
  EXPECT_EQ(files[3].link_target, ".");
  EXPECT_EQ(files[5].link_target, "../a");
  EXPECT_TRUE(files[6].executable);
  EXPECT_EQ(names(list_tree(dir.path() / "t")).front(), ".git/objects/x");
  std::ofstream(dir.path() / "t/sub.x") << "";
  std::ofstream(dir.path() / "t/\xc3\xa4") << "";
  const std::vector<std::string> sorted = names(list_tree(dir.path() / "t", {".git"}));
  EXPECT_EQ(sorted[5], "sub.x");  // '.' is less than '/'
  EXPECT_EQ(sorted.back(), "\xc3\xa4");
  ASSERT_EQ(::mkfifo((dir.path() / "t/fifo").c_str(), 0600), 0);
  EXPECT_THROW(list_tree(dir.path() / "t"), Error);
  EXPECT_THROW(list_tree(dir.path() / "none"), Error);
}

TEST(CopyTree, KeepsLinksModesAndTimes) {
  const TempDir dir;
  const fs::path from = dir.path() / "from";
  const fs::path to = dir.path() / "deep/to";
  make_tree(from);
  const auto past = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  fs::last_write_time(from / "a", past);
  fs::last_write_time(from / "sub", past);
  copy_tree(from, to);
  const std::vector<TreeFile> a = list_tree(from);
  const std::vector<TreeFile> b = list_tree(to);
  EXPECT_EQ(names(a), names(b));
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].link_target, b[i].link_target);
    EXPECT_EQ(a[i].executable, b[i].executable);
    if (a[i].link) continue;
    EXPECT_EQ(read_file(from / a[i].name), read_file(to / b[i].name));
  }
  EXPECT_EQ(fs::last_write_time(to / "a"), fs::last_write_time(from / "a"));
  EXPECT_EQ(fs::last_write_time(to / "sub"), fs::last_write_time(from / "sub"));
  EXPECT_EQ(fs::status(to / "sub/tool").permissions(), static_cast<fs::perms>(0754));
  EXPECT_EQ(fs::status(to / "locked").permissions(), static_cast<fs::perms>(0500));
  EXPECT_TRUE(is_folder(to / "sub/empty"));
  EXPECT_EQ(fs::hard_link_count(from / "a"), 1u);
  copy_tree(from, dir.path() / "linked", true);
  EXPECT_EQ(fs::hard_link_count(from / "a"), 2u);
}

TEST(CopyTree, NeverWritesThroughALink) {
  const TempDir dir;
  make_folders(dir.path() / "from/sub");
  write_file(dir.path() / "from/a", "new");
  write_file(dir.path() / "from/sub/b", "new");
  write_file(dir.path() / "victim", "old");
  make_folders(dir.path() / "to");
  make_folders(dir.path() / "elsewhere");
  fs::create_symlink("../victim", dir.path() / "to/a");
  sys::copy_file(dir.path() / "from/a", dir.path() / "to/a");
  EXPECT_EQ(read_file(dir.path() / "victim"), "old");
  fs::create_directory_symlink("../elsewhere", dir.path() / "to/sub");
  EXPECT_THROW(copy_tree(dir.path() / "from", dir.path() / "to"), Error);
  EXPECT_FALSE(fs::exists(dir.path() / "elsewhere/b"));
  sys::copy_file(dir.path() / "victim", dir.path() / "victim");
  EXPECT_EQ(read_file(dir.path() / "victim"), "old");
}

TEST(CopyTree, RejectsItselfAndSpecialFiles) {
  const TempDir dir;
  make_folders(dir.path() / "from/sub");
  EXPECT_THROW(copy_tree(dir.path() / "from", dir.path() / "from/sub/to"), Error);
  EXPECT_THROW(copy_tree(dir.path() / "from", dir.path() / "from"), Error);
  EXPECT_THROW(copy_tree(dir.path() / "none", dir.path() / "to"), Error);
  copy_tree(dir.path() / "from", dir.path() / "from2");  // only a common prefix
  ASSERT_EQ(::mkfifo((dir.path() / "from/fifo").c_str(), 0600), 0);
  EXPECT_THROW(copy_tree(dir.path() / "from", dir.path() / "to"), Error);
  EXPECT_THROW(sys::copy_file(dir.path() / "from/fifo", dir.path() / "x"), Error);
}

TEST(CopyFile, CopiesFilesThatTheKernelCannot) {
  const TempDir dir;
  sys::copy_file("/proc/self/status", dir.path() / "status");
  EXPECT_TRUE(read_file(dir.path() / "status").starts_with("Name:"));
}

TEST(RemoveTree, FollowsNoLinksAndOpensLockedFolders) {
  const TempDir dir;
  make_tree(dir.path() / "t");
  write_file(dir.path() / "kept", "k");
  make_folders(dir.path() / "kept-folder/sub");
  fs::create_directory_symlink("../kept-folder", dir.path() / "t/out");
  remove_tree(dir.path() / "t");
  EXPECT_FALSE(fs::exists(fs::symlink_status(dir.path() / "t")));
  EXPECT_TRUE(is_folder(dir.path() / "kept-folder/sub"));
  fs::create_directory_symlink("kept-folder", dir.path() / "link");
  remove_tree(dir.path() / "link/");
  EXPECT_FALSE(fs::exists(fs::symlink_status(dir.path() / "link")));
  EXPECT_TRUE(is_folder(dir.path() / "kept-folder/sub"));
  remove_tree(dir.path() / "kept");
  remove_tree(dir.path() / "none");
  remove_tree(dir.path() / "none/at/all");
  EXPECT_THROW(remove_tree(dir.path() / ".."), Error);
  EXPECT_THROW(remove_tree("/"), Error);
}

// Root ignores write permissions, so this runs as another user.
TEST(RemoveTree, OpensLockedFoldersAsNobody) {
  if (::geteuid() != 0) GTEST_SKIP() << "not root: the test above covers this";
  const TempDir dir;
  fs::permissions(dir.path(), fs::perms::all);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgid(65534) != 0 || ::setuid(65534) != 0) ::_exit(2);
    try {
      make_tree(dir.path() / "t");
      copy_tree(dir.path() / "t", dir.path() / "u");
      remove_tree(dir.path() / "t");
      remove_tree(dir.path() / "u");
    } catch (...) {
      ::_exit(3);
    }
    ::_exit(fs::is_empty(dir.path()) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Deeper than the longest path, and than the descriptor limit.
TEST(RemoveTree, RemovesTreesDeeperThanPathMax) {
  const TempDir dir;
  Fd folder(::open(dir.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int level = 0; level < 1100; ++level) {
    ASSERT_EQ(::mkdirat(folder.raw(), "some-name", 0700), 0);
    folder = Fd(::openat(folder.raw(), "some-name", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_TRUE(folder.is_open());
  }
  remove_tree(dir.path() / "some-name");
  EXPECT_TRUE(fs::is_empty(dir.path()));
}

}  // namespace
}  // namespace wheelsmith::sys
