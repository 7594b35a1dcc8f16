#include "sys/file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;

TEST(MapFile, ReadsFilesAndRejectsTheRest) {
  const TempDir dir;
  std::ofstream(dir.path() / "a") << "hello";
  std::ofstream(dir.path() / "empty");
  EXPECT_EQ(map_file(dir.path() / "a").bytes.text(), "hello");
  EXPECT_TRUE(map_file(dir.path() / "empty").bytes.empty());
  EXPECT_THROW(map_file(dir.path() / "none"), Error);
  EXPECT_THROW(map_file(dir.path()), Error);
  EXPECT_THROW(map_file("/dev/zero"), Error);
}

TEST(TempDir, IsInTmpIfTheFolderOfTheVariableIsMissing) {
  const char* given = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  const std::string before = given == nullptr ? "" : given;
  ::setenv("TMPDIR", "/nonexistent/folder", 1);  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(TempDir().path().parent_path(), "/tmp");
  if (given == nullptr)
    ::unsetenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe)
  else
    ::setenv("TMPDIR", before.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

TEST(IsFolder, IsFalseForPathsThatCannotBeExamined) {
  const TempDir dir;
  fs::create_symlink("loop", dir.path() / "loop");
  EXPECT_TRUE(is_folder(dir.path()));
  EXPECT_FALSE(is_folder(dir.path() / "none"));
  EXPECT_FALSE(is_folder(dir.path() / "loop"));
  EXPECT_FALSE(is_folder(dir.path() / std::string(300, 'a')));
  EXPECT_THROW(map_file(dir.path() / "loop"), Error);
}

TEST(FolderTree, ListsFilesAndStaysInside) {
  const TempDir dir;
  fs::create_directories(dir.path() / "tree/sub");
  std::ofstream(dir.path() / "secret") << "s";
  std::ofstream(dir.path() / "tree/sub/b") << "b";
  std::ofstream(dir.path() / "tree/a") << "a";
  fs::create_symlink("a", dir.path() / "tree/link");
  fs::create_symlink("nowhere", dir.path() / "tree/dangling");
  fs::create_directory_symlink(".", dir.path() / "tree/loop");
  const FolderTree tree(dir.path() / "tree");
  EXPECT_EQ(tree.files(), (std::vector<FileTree::File>{{"a", 1}, {"link", 1}, {"sub/b", 1}}));
  EXPECT_EQ(tree.open("sub/b")->bytes.text(), "b");
  EXPECT_EQ(tree.head("sub/b", 10), "b");
  EXPECT_EQ(tree.head("../secret", 10), std::nullopt);
  EXPECT_FALSE(tree.open("sub").has_value());
  EXPECT_FALSE(tree.open("../secret").has_value());
  EXPECT_FALSE(tree.open("sub/../../secret").has_value());
  EXPECT_FALSE(tree.open((dir.path() / "secret").string()).has_value());
}

}  // namespace
}  // namespace wheelsmith::sys
