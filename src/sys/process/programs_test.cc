#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "sys/file.h"
#include "sys/process/process.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;

void make_program(const fs::path& path, unsigned mode = 0755) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "#!/bin/sh\n";
  fs::permissions(path, static_cast<fs::perms>(mode));
}

TEST(FindProgram, SearchesLikeExecvp) {
  const TempDir dir;
  make_program(dir.path() / "a/tool", 0644);  // not executable: the search continues
  make_program(dir.path() / "b/tool");
  make_program(dir.path() / "c/tool");
  fs::create_directories(dir.path() / "a/folder");  // a folder has the x bit too
  const std::string path = (dir.path() / "a").string() + ":" + (dir.path() / "b").string() + ":" +
                           (dir.path() / "c").string() + ":" + (dir.path() / "none").string();
  EXPECT_EQ(find_program("tool", path), dir.path() / "b/tool");
  EXPECT_EQ(find_program((dir.path() / "c/tool").string(), path), dir.path() / "c/tool");
  EXPECT_EQ(find_program((dir.path() / "a/tool").string(), path), "");
  EXPECT_EQ(find_program("folder", path), "");
  EXPECT_EQ(find_program("other", path), "");
  EXPECT_EQ(find_program("", path), "");
  EXPECT_EQ(find_program("tool", ""), "");
  EXPECT_EQ(find_program(std::string_view("tool\0x", 6), path), "");
  EXPECT_FALSE(find_program("sh").empty());
}

TEST(OwnExecutable, IsThisTest) { EXPECT_TRUE(own_executable().filename().string().ends_with("_test")); }

TEST(ShellQuoted, KeepsPlainWords) {
  EXPECT_EQ(shell_quoted("gcc-12"), "gcc-12");
  EXPECT_EQ(shell_quoted("-DX=1"), "-DX=1");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("~"), "'~'");
  EXPECT_EQ(shell_quoted(std::vector<std::string>{"a=b", "c=d", "$x"}), "'a=b' c=d '$x'");
}

// A real shell checks the result.
TEST(ShellQuoted, IsReadBackUnchanged) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::vector<std::string> words;
  for (int i = 0; i < 200; ++i) {
    std::string word;
    for (std::size_t size = random() % 12; word.size() < size;) {
      word += static_cast<char>(random() % 2 == 0 ? 1 + random() % 255
                                                  : static_cast<unsigned>("'\"\\$`! *~#\n"[random() % 11]));
    }
    words.push_back(word);
  }
  Command command{.argv = {"sh", "-c", "printf '%s\\0' " + shell_quoted(words)}};
  std::string expected;
  for (const std::string& word : words) expected += word + '\0';
  EXPECT_EQ(capture(command).output, expected);
}

TEST(CurrentEnvironment, MatchesTheProcess) { EXPECT_EQ(current_environment().at("PATH"), ::getenv("PATH")); }

}  // namespace
}  // namespace wheelsmith::sys
