#include "sys/open_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;

struct OpenFolders : ::testing::Test {
  void SetUp() override {
    fs::create_directories(temp.path() / "in/sub");
    fs::create_directories(temp.path() / "out");
    std::ofstream(temp.path() / "out/secret") << "secret";
    std::ofstream(temp.path() / "in/file") << "text";
    fs::create_symlink("file", temp.path() / "in/stays");
    fs::create_symlink("../out/secret", temp.path() / "in/leaves");
    fs::create_symlink(temp.path() / "in/file", temp.path() / "in/absolute");
    fs::create_symlink("../out", temp.path() / "in/away");
    ASSERT_EQ(::mkfifo((temp.path() / "in/pipe").c_str(), 0600), 0);
  }
  TempDir temp;
};

TEST_F(OpenFolders, ContainEveryLookup) {
  const OpenFolder folder(temp.path() / "in");
  EXPECT_EQ(folder.read_file("file"), "text");
  EXPECT_EQ(folder.read_file("stays"), "text");
  for (const char* name : {"leaves", "absolute", "away/secret", "../out/secret", "sub/../../out/secret", "/etc/passwd",
                           "pipe", "sub", "nothing", "", ".", "..", "file/x"}) {
    EXPECT_FALSE(folder.open_file(name)) << name;
    EXPECT_FALSE(folder.stat_of(name)) << name;
  }
}

TEST_F(OpenFolders, ContainEveryWrite) {
  const OpenFolder folder(temp.path() / "in");
  for (const char* name : {"away/new", "../new", "sub/../../new", "away/deep/new"}) {
    EXPECT_THROW((void)folder.write_file(name, "x", false), Error) << name;
    folder.remove_file(name);
  }
  folder.remove_file("away/secret");
  EXPECT_TRUE(fs::exists(temp.path() / "out/secret"));
  EXPECT_FALSE(fs::exists(temp.path() / "new"));
  EXPECT_FALSE(fs::exists(temp.path() / "out/new"));
  // A link is replaced, not written through.
  (void)folder.write_file("leaves", "mine", false);
  EXPECT_EQ(read_file(temp.path() / "out/secret"), "secret");
  EXPECT_EQ(folder.read_file("leaves"), "mine");
}

TEST_F(OpenFolders, ContainWrittenFiles) {
  const OpenFolder folder(temp.path() / "in");
  const FileStat stat = folder.write_file("a/b/c", "one", true);
  EXPECT_EQ(folder.glance("a/b/c"), stat);
  EXPECT_EQ(folder.stat_of("a/b/c"), stat);
  EXPECT_NE(folder.write_file("a/b/c", "two", false), stat);
  EXPECT_EQ(folder.read_file("a/b/c"), "two");
  EXPECT_THROW((void)folder.read_file("a/b/c", 2), Error);
  folder.remove_file("a/b/c");
  EXPECT_FALSE(fs::exists(temp.path() / "in/a"));
  EXPECT_TRUE(fs::exists(temp.path() / "in/sub"));
  std::vector<std::string> names;
  for (const OpenFolder::Entry& entry : folder.entries("", [](std::string_view) { return true; }))
    names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"absolute", "away", "file", "leaves", "pipe", "stays", "sub"}));
  EXPECT_TRUE(folder.entries("away", [](std::string_view) { return true; }).empty());
  EXPECT_THROW(OpenFolder(temp.path() / "in/file"), Error);
}

}  // namespace
}  // namespace wheelsmith::sys
