#include "settings/trust.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "settings/project_file.h"
#include "settings/settings.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::settings {
namespace {

namespace fs = std::filesystem;

// Folders of an imaginary machine, and the file that is found from /home/me/code/project/sub.
TEST(ProjectFile, IsSearchedUpToTheFirstBoundary) {
  const fs::path project = "/home/me/code/project";
  using Folders = std::map<fs::path, FolderFacts>;
  const FolderFacts plain{.device = 1};
  const FolderFacts with_file{.device = 1, .has_file = true};
  const FolderFacts repository{.device = 1, .repository = true};
  const FolderFacts repository_with_file{.device = 1, .repository = true, .has_file = true};
  const FolderFacts shared_with_file{.device = 1, .shared = true, .has_file = true};
  const FolderFacts elsewhere_with_file{.device = 2, .has_file = true};
  const FolderFacts elsewhere{.device = 2};
  const struct {
    std::string what;
    Folders folders;
    fs::path found;
  } cases[] = {
      {"nothing anywhere", {}, ""},
      {"in the current folder", {{project / "sub", with_file}, {project, with_file}}, project / "sub"},
      {"in a folder above", {{"/home/me", with_file}}, "/home/me"},
      {"at the very root", {{"/", with_file}}, "/"},
      {"a repository's root is searched", {{project, repository_with_file}}, project},
      {"folders above a repository's root are not searched", {{project, repository}, {"/home/me/code", with_file}}, ""},
      {"a repository in the current folder", {{project / "sub", repository}, {project, with_file}}, ""},
      {"a shared folder is not searched", {{"/home/me", shared_with_file}}, ""},
      {"nor the folders above it", {{"/home/me", {.device = 1, .shared = true}}, {"/home", with_file}}, ""},
      {"nor a shared current folder", {{project / "sub", shared_with_file}, {project, with_file}}, ""},
      {"another file system above", {{"/home/me/code", elsewhere_with_file}}, ""},
      {"everything inside one boundary",
       {{project / "sub", elsewhere}, {project, elsewhere_with_file}, {"/home/me/code", with_file}},
       project},
  };
  for (const auto& one : cases) {
    const fs::path found = project_file(project / "sub", [&](const fs::path& folder) {
      const auto facts = one.folders.find(folder);
      return std::optional(facts == one.folders.end() ? plain : facts->second);
    });
    EXPECT_EQ(found, one.found.empty() ? fs::path() : one.found / "wheelsmith.toml") << one.what;
  }
}

TEST(ProjectFile, ReadsRealFolders) {
  const sys::TempDir folder;
  const fs::path inner = folder.path() / "a";
  sys::make_folders(inner / "b");
  sys::write_file(folder.path() / "wheelsmith.toml", "");
  EXPECT_EQ(project_file(inner / "b"), folder.path() / "wheelsmith.toml");
  sys::write_file(inner / ".git", "gitdir: elsewhere\n");  // of a worktree
  EXPECT_EQ(project_file(inner / "b"), "");
  EXPECT_EQ(project_file(folder.path()), folder.path() / "wheelsmith.toml");
  for (const auto mode : {01755, 01777, 0777, 0757}) {
    fs::permissions(folder.path(), static_cast<fs::perms>(mode));
    EXPECT_EQ(project_file(folder.path()), "") << std::oct << mode;
  }
  fs::permissions(folder.path(), static_cast<fs::perms>(0775));
  EXPECT_EQ(project_file(folder.path()), folder.path() / "wheelsmith.toml");
  // /proc is a file system of its own.
  EXPECT_EQ(examine_folder("/proc")->device == examine_folder("/")->device, false);
  EXPECT_FALSE(examine_folder(folder.path() / "nowhere"));
}

TEST(Trust, IsForOneFileAndItsContent) {
  const sys::TempDir folder;
  const fs::path list_file = folder.path() / "state" / "wheelsmith" / "trusted.json";
  const fs::path file = folder.path() / "wheelsmith.toml";
  const fs::path other = folder.path() / "other" / "wheelsmith.toml";
  sys::write_file(file, "cxx = \"g++\"\n");
  const ProjectText first = read_project_text(file);
  EXPECT_EQ(TrustList(list_file).state(first.identity), TrustState::unknown);
  TrustList(list_file).add(first.identity);
  EXPECT_EQ(TrustList(list_file).state(read_project_text(file).identity), TrustState::trusted);
  EXPECT_EQ(fs::status(list_file).permissions(), static_cast<fs::perms>(0600));

  sys::write_file(file, "cxx = \"./evil\"\n");
  EXPECT_EQ(TrustList(list_file).state(read_project_text(file).identity), TrustState::changed);
  sys::write_file(file, "cxx = \"g++\"\n");  // the original content again
  EXPECT_EQ(TrustList(list_file).state(read_project_text(file).identity), TrustState::trusted);

  // The same bytes elsewhere, or a link to the trusted file, are not trusted: ./tool would be another program.
  sys::make_folders(other.parent_path());
  sys::write_file(other, first.text);
  EXPECT_EQ(TrustList(list_file).state(read_project_text(other).identity), TrustState::unknown);
  fs::remove(other);
  fs::create_symlink(file, other);
  EXPECT_EQ(TrustList(list_file).state(read_project_text(other).identity), TrustState::unknown);
  // A link to the folder is the same folder.
  fs::create_directory_symlink(folder.path(), folder.path() / "link");
  EXPECT_EQ(TrustList(list_file).state(read_project_text(folder.path() / "link" / "wheelsmith.toml").identity),
            TrustState::trusted);

  TrustList list(list_file);
  list.add(read_project_text(other).identity);
  EXPECT_EQ(TrustList(list_file).files().size(), 2U);
  EXPECT_TRUE(list.remove(file));
  EXPECT_FALSE(list.remove(file));
  EXPECT_EQ(TrustList(list_file).state(first.identity), TrustState::unknown);
  EXPECT_EQ(TrustList(list_file).state(read_project_text(other).identity), TrustState::trusted);
}

TEST(Trust, ATrustListWritableByOthersIsIgnored) {
  const sys::TempDir folder;
  const fs::path list_file = folder.path() / "trusted.json";
  TrustList(list_file).add({"/p/wheelsmith.toml", "00"});
  for (const auto mode : {0620, 0602, 0666}) {
    fs::permissions(list_file, static_cast<fs::perms>(mode));
    EXPECT_THROW(TrustList{list_file}, Error) << std::oct << mode;
  }
  fs::permissions(list_file, static_cast<fs::perms>(0600));
  EXPECT_EQ(TrustList(list_file).files().size(), 1U);
  sys::write_private_file(list_file, "not JSON");
  EXPECT_THROW(TrustList{list_file}, Error);
  EXPECT_THROW(TrustList(sys::Environment{}), Error);
}

TEST(Trust, FilesOwnedOrWritableByOthersAreRejected) {
  const sys::Ownership mine{.user = 1000, .group = 1000, .mode = 0644};
  const sys::Ownership my_folder{.user = 1000, .group = 1000, .mode = 0755};
  const sys::Ownership roots{.user = 0, .group = 0, .mode = 0644};
  const sys::Ownership yours{.user = 1001, .group = 1001, .mode = 0644};
  const auto with_mode = [](sys::Ownership ownership, unsigned mode, unsigned group) {
    ownership.mode = mode;
    ownership.group = group;
    return ownership;
  };
  const struct {
    std::string what;
    sys::Ownership file, folder;
    unsigned user;
    std::string fix;
  } cases[] = {
      {"my own", mine, my_folder, 1000, ""},
      {"root's", roots, roots, 1000, ""},
      {"another user's file", yours, my_folder, 1000, "chown 1000 '/p q/wheelsmith.toml'"},
      {"another user's folder", mine, yours, 1000, "chown 1000 '/p q'"},
      {"mine, as root", mine, my_folder, 0, "chown 0 '/p q/wheelsmith.toml'"},
      {"root's, as root", roots, roots, 0, ""},
      {"writable for a group", with_mode(mine, 0664, 100), my_folder, 1000, "chmod go-w '/p q/wheelsmith.toml'"},
      {"writable for my own group", with_mode(mine, 0664, 1000), my_folder, 1000, ""},
      {"world-writable", with_mode(mine, 0646, 1000), my_folder, 1000, "chmod go-w '/p q/wheelsmith.toml'"},
      {"in a world-writable folder", mine, with_mode(my_folder, 0777, 1000), 1000,
       "move the file to a folder that only you can write to"},
      {"in a sticky folder", mine, with_mode(roots, 01777, 0), 1000,
       "move the file to a folder that only you can write to"},
  };
  for (const auto& one : cases) {
    const ProjectText project{{"/p q/wheelsmith.toml", ""}, "", one.file, one.folder};
    const OwnershipProblem problem = ownership_problem(project, one.user);
    EXPECT_EQ(problem.fix, one.fix) << one.what;
    EXPECT_EQ(problem.what.empty(), one.fix.empty()) << one.what;
  }
}

TEST(Trust, KnowsTheOwnerOfARealFile) {
  const sys::TempDir folder;
  sys::write_file(folder.path() / "wheelsmith.toml", "");
  fs::permissions(folder.path(), static_cast<fs::perms>(0755));
  EXPECT_TRUE(ownership_problem(read_project_text(folder.path() / "wheelsmith.toml"), ::geteuid()).empty());
  EXPECT_TRUE(is_own_folder(folder.path()));
  EXPECT_FALSE(is_own_folder("/tmp"));
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a file";
  ASSERT_EQ(::chown((folder.path() / "wheelsmith.toml").c_str(), 4711, 4711), 0);
  EXPECT_NE(ownership_problem(read_project_text(folder.path() / "wheelsmith.toml"), 0).what.find("user 4711"),
            std::string::npos);
  ASSERT_EQ(::chown(folder.path().c_str(), 4711, 4711), 0);
  EXPECT_FALSE(is_own_folder(folder.path()));
}

TEST(Trust, TheDigestOfAFolderCoversEveryByte) {
  const sys::TempDir folder;
  sys::make_folders(folder.path() / "a");
  sys::write_file(folder.path() / "a" / "b", "cd");
  const std::string first = identity_of_folder(folder.path()).sha256;
  EXPECT_EQ(identity_of_folder(folder.path()).sha256, first);
  sys::write_file(folder.path() / "a" / "b", "ce");
  EXPECT_NE(identity_of_folder(folder.path()).sha256, first);
  sys::write_file(folder.path() / "a" / "b", "cd");
  sys::write_file(folder.path() / "a" / "c", "");
  EXPECT_NE(identity_of_folder(folder.path()).sha256, first);
  fs::remove(folder.path() / "a" / "c");
  EXPECT_EQ(identity_of_folder(folder.path()).sha256, first);
  fs::remove(folder.path() / "a" / "b");
  fs::create_symlink("cd", folder.path() / "a" / "b");
  EXPECT_NE(identity_of_folder(folder.path()).sha256, first);
}

TEST(Trust, IsStoredInTheUsersStateFolder) {
  EXPECT_EQ(state_folder({{"XDG_STATE_HOME", "/s"}, {"HOME", "/h"}}), "/s/wheelsmith");
  EXPECT_EQ(state_folder({{"XDG_STATE_HOME", "s"}, {"HOME", "/h"}}), "/h/.local/state/wheelsmith");
  EXPECT_EQ(state_folder({{"HOME", "h"}}), "");
  EXPECT_EQ(user_folder({{"XDG_CONFIG_HOME", "c"}, {"HOME", "/h"}}), "/h/.config/wheelsmith");
}

}  // namespace
}  // namespace wheelsmith::settings
