#include "source/worktree/checkout_state.h"

#include <gtest/gtest.h>

#include <map>

#include "source/git/test_repositories.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

class CheckoutStateTest : public RepositoriesTest {};

TEST(CheckoutState, IncrementsTheLastNumberAfterATag) {
  EXPECT_EQ(version_after("0.11.0", "5", "0123abcd", false), "0.11.1.dev5+g0123abcd");
  EXPECT_EQ(version_after("1.8.0rc1", "2", "0123abcd", true), "1.8.0rc2.dev2+g0123abcd.dirty");
  EXPECT_EQ(version_after("2.7.4.post1", "1", "0123abcd", false), "2.7.4.post2.dev1+g0123abcd");
  EXPECT_EQ(version_after("3", "0", "ab", true), "4.dev0+gab.dirty");
}

TEST(CheckoutState, IsEmptyWithoutARepository) {
  const sys::TempDir place;
  EXPECT_FALSE(checkout_state(place.path(), "x", "v"));
}

TEST_F(CheckoutStateTest, ReportsTagBranchAndVersion) {
  const sys::TempDir place;
  const std::filesystem::path folder = place.path() / "clone", origin = place.path() / "origin";
  sys::make_folders(origin);
  git(origin, {"init", "-q", "-b", "release/2.7"});
  sys::write_file(origin / "a.txt", "one");
  git(origin, {"add", "."});
  git(origin, {"commit", "-q", "-m", "one"});
  git(origin, {"tag", "v1.2.0-rc1"});
  git(origin, {"tag", "v1.2.0"});
  git(origin, {"tag", "nightly"});
  git(place.path(), {"clone", "-q", origin.string(), folder.string()});

  auto state = checkout_state(folder, "x", "v");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->commit, git(folder, {"rev-parse", "HEAD"}));
  EXPECT_EQ(state->ref, "v1.2.0");  // the release, not its candidate
  EXPECT_EQ(state->tag, "v1.2.0");
  EXPECT_EQ(state->version, "1.2.0");
  EXPECT_FALSE(state->changed);

  sys::write_file(folder / "untracked.txt", "not of git's");
  EXPECT_FALSE(checkout_state(folder, "x", "v")->changed);
  sys::write_file(folder / "a.txt", "two");
  state = checkout_state(folder, "x", "v");
  EXPECT_TRUE(state->changed);
  EXPECT_EQ(state->tag, "");
  EXPECT_EQ(state->version, "1.2.1.dev0+g" + state->commit.substr(0, 8) + ".dirty");

  git(folder, {"checkout", "-q", "-b", "my-work", "--track", "origin/release/2.7"});
  git(folder, {"commit", "-q", "-a", "-m", "two"});
  state = checkout_state(folder, "x", "v");
  EXPECT_EQ(state->ref, "release/2.7");  // its name on the remote
  EXPECT_EQ(state->version, "1.2.1.dev1+g" + state->commit.substr(0, 8));

  git(folder, {"checkout", "-q", "--detach"});
  EXPECT_EQ(checkout_state(folder, "x", "v")->ref, state->commit);
}

// An unpacked archive may contain a repository whose own configuration names programs.
TEST_F(CheckoutStateTest, RunsNoProgramOfTheRepository) {
  const sys::TempDir place;
  const std::filesystem::path folder = place.path() / "clone", mark = place.path() / "mark";
  const std::filesystem::path program = place.path() / "program";
  sys::write_file(program, "#!/bin/sh\necho \"$@\" >>" + mark.string() + "\ncat\n");
  std::filesystem::permissions(program, std::filesystem::perms(0755));
  sys::make_folders(folder);
  git(folder, {"init", "-q"});
  sys::write_file(folder / ".gitattributes", "* filter=evil diff=evil\n");
  sys::write_file(folder / "a.txt", "one");
  git(folder, {"add", "."});
  git(folder, {"commit", "-q", "-m", "one"});
  // git reads files whose times have changed, and fetches objects that are missing.
  sys::write_file(folder / "a.txt", "two");
  const std::string blob = git(folder, {"rev-parse", "HEAD:.gitattributes"});
  std::filesystem::remove(folder / ".git/objects" / blob.substr(0, 2) / blob.substr(2));
  sys::write_file(folder / ".gitattributes", "* filter=evil diff=evil \n");
  for (const char* key : {"filter.evil.clean", "filter.evil.process", "filter.evil.smudge", "core.fsmonitor",
                          "core.sshCommand", "diff.external", "diff.evil.textconv", "gpg.program",
                          "remote.origin.uploadpack", "core.alternateRefsCommand"}) {
    git(folder, {"config", key, program.string() + " " + key});
  }
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"filter.evil.required", "true"},
                                          {"log.showSignature", "true"},
                                          {"core.repositoryFormatVersion", "1"},
                                          {"extensions.partialClone", "origin"},
                                          {"remote.origin.promisor", "true"},
                                          {"remote.origin.url", "file://" + folder.string()}})
    git(folder, {"config", key, value});

  const auto state = checkout_state(folder, "x", "v");
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->changed);
  EXPECT_EQ(sys::read_file_if_there(mark).value_or(""), "");
}

// Includes repeat 9 KB so often that the list of all settings has 18 MB, and the filter comes last.
TEST_F(CheckoutStateTest, IgnoresARepositoryWhoseConfigurationIsTooLong) {
  const sys::TempDir place;
  const std::filesystem::path folder = place.path() / "clone", mark = place.path() / "mark";
  sys::make_folders(folder);
  git(folder, {"init", "-q"});
  sys::write_file(folder / ".gitattributes", "* filter=evil\n");
  sys::write_file(folder / "a.txt", "one");
  git(folder, {"add", "."});
  git(folder, {"commit", "-q", "-m", "one"});
  sys::write_file(folder / "a.txt", "two");
  std::string big = "[a \"" + std::string(900, 'x') + "\"]\n", config = sys::read_file(folder / ".git/config");
  for (int i = 0; i < 2000; ++i) big += "b=1\n";
  config += "[include]\n";
  for (int i = 0; i < 10; ++i) config += "path=big\n";
  config += "[filter \"evil\"]\nclean = \"touch " + mark.string() + "; cat\"\n";
  sys::write_file(folder / ".git/big", big);
  sys::write_file(folder / ".git/config", config);
  EXPECT_FALSE(checkout_state(folder, "x", "v")) << "it counts as a folder without a repository";
  EXPECT_FALSE(std::filesystem::exists(mark));
}

}  // namespace wheelsmith::source
