#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "base/error.h"
#include "source/folder/listing.h"
#include "source/source.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::source {
namespace {

namespace fs = std::filesystem;

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    put("setup.py", "pass\n");
    put("src/a.cc", "int a;\n");
  }
  void put(const std::string& name, const std::string& text) const { put(m_folder, name, text); }
  static void put(const fs::path& folder, const std::string& name, const std::string& text) {
    fs::create_directories((folder / name).parent_path());
    sys::write_file(folder / name, text);
  }
  std::string digest() { return folder_digest(m_folder, m_store).digest; }
  void git(std::vector<std::string> arguments) const {
    std::vector<std::string> argv = {"git", "-c", "user.name=a", "-c", "user.email=a@b"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    const sys::Captured result = sys::capture({.argv = argv, .folder = m_folder});
    ASSERT_TRUE(result.exit.good()) << result.errors;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const SourceFile& file : list_source(m_folder)) names.push_back(file.name);
    return names;
  }
  static std::int64_t mtime(const fs::path& path) {
    struct stat info{};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  }

  sys::TempDir m_temporary;
  fs::path m_folder = m_temporary.path() / "project";
  fs::path m_copy = m_temporary.path() / "copy";
  store::Store m_store{m_temporary.path() / "store"};
};

TEST_F(Folder, DigestChangesOnlyWithContent) {
  const std::string first = digest();
  EXPECT_EQ(first.size(), 5 + 64u);
  EXPECT_EQ(first.substr(0, 5), "tree:");
  EXPECT_EQ(digest(), first);
  fs::last_write_time(m_folder / "setup.py", fs::file_time_type::clock::now() - std::chrono::hours(5));
  EXPECT_EQ(digest(), first);
  for (const char* leftover :
       {"build/x.o", "dist/a.whl", "src/__pycache__/a.pyc", "a.egg-info/PKG-INFO", ".eggs/x", ".git-not/../build/y"}) {
    put(fs::path(leftover).lexically_normal().string(), "x");
    EXPECT_EQ(digest(), first) << leftover;
  }
  std::set<std::string> seen = {first};
  const auto changed = [&](const char* what) { EXPECT_TRUE(seen.insert(digest()).second) << what; };
  put("src/a.cc", "int b;\n");  // of the same size
  changed("content");
  fs::permissions(m_folder / "setup.py", fs::perms(0755));
  changed("mode");
  put("src/build/new.cc", "");
  changed("a file in a folder that is called build, but not at the top");
  fs::create_symlink("setup.py", m_folder / "link");
  changed("link");
  fs::remove(m_folder / "link");
  fs::create_symlink("src", m_folder / "link");
  changed("another link");
  fs::rename(m_folder / "src/a.cc", m_folder / "src/b.cc");
  changed("name");
}

TEST_F(Folder, RemembersDigestsAndNamesFiles) {
  fs::last_write_time(m_folder / "setup.py", fs::file_time_type::clock::now() - std::chrono::hours(5));
  const FolderDigest first = folder_digest(m_folder, m_store);
  ASSERT_EQ(first.files.size(), 2u);
  EXPECT_EQ(first.files[0].first, "setup.py");
  EXPECT_EQ(first.files[1].first, "src/a.cc");
  put("src/a.cc", "int c;\n");
  const FolderDigest second = folder_digest(m_folder, m_store);
  EXPECT_EQ(second.files[0], first.files[0]);
  EXPECT_NE(second.files[1].second, first.files[1].second);
  EXPECT_THROW((void)folder_digest(m_folder / "absent", m_store), Error);
}

TEST_F(Folder, UsesGitsFileList) {
  if (sys::find_program("git").empty()) GTEST_SKIP() << "no git";
  put(".gitignore", "*.o\n");
  put("src/a.o", "x");
  put("build/tracked.py", "x");
  git({"init", "-q"});
  git({"add", "-f", "setup.py", "src/a.cc", "build/tracked.py"});
  git({"commit", "-q", "-m", "x"});
  put("build/left.o", "x");
  put("build/left.py", "x");
  put("new.py", "x");
  EXPECT_EQ(names(), (std::vector<std::string>{".gitignore", "build/tracked.py", "new.py", "setup.py", "src/a.cc"}));
  fs::remove(m_folder / "setup.py");  // tracked, but deleted
  EXPECT_EQ(names(), (std::vector<std::string>{".gitignore", "build/tracked.py", "new.py", "src/a.cc"}));
}

TEST_F(Folder, CopyFollowsTheFolderAndKeepsBuildOutputs) {
  put("gone/old.h", "1");
  put("run.sh", "#!");
  fs::permissions(m_folder / "run.sh", fs::perms(0755));
  fs::create_symlink("src/a.cc", m_folder / "link");
  synchronize(m_folder, m_copy);
  EXPECT_EQ(sys::read_file(m_copy / "link"), "int a;\n");
  EXPECT_NE(fs::status(m_copy / "run.sh").permissions() & fs::perms::owner_exec, fs::perms::none);

  put(m_copy, "src/a.o", "object");
  put(m_copy, "build/lib.so", "library");
  const std::int64_t kept = mtime(m_copy / "setup.py");
  const std::int64_t before = mtime(m_copy / "src/a.cc");
  // Touched without a change, changed with an older time, deleted, new.
  fs::last_write_time(m_folder / "setup.py", fs::file_time_type::clock::now() + std::chrono::seconds(3));
  put("src/a.cc", "int x;\n");
  fs::last_write_time(m_folder / "src/a.cc", fs::file_time_type::clock::now() - std::chrono::hours(100));
  fs::remove_all(m_folder / "gone");
  put("new/b.cc", "int b;\n");
  synchronize(m_folder, m_copy);
  EXPECT_EQ(mtime(m_copy / "setup.py"), kept);
  EXPECT_EQ(sys::read_file(m_copy / "src/a.cc"), "int x;\n");
  EXPECT_GT(mtime(m_copy / "src/a.cc"), before);
  EXPECT_FALSE(fs::exists(m_copy / "gone"));
  EXPECT_EQ(sys::read_file(m_copy / "new/b.cc"), "int b;\n");
  EXPECT_EQ(sys::read_file(m_copy / "src/a.o"), "object");
  EXPECT_EQ(sys::read_file(m_copy / "build/lib.so"), "library");
}

TEST_F(Folder, CopyHandlesTypeChanges) {
  fs::create_symlink("src", m_folder / "a");
  put("b/c", "1");
  synchronize(m_folder, m_copy);
  fs::remove(m_folder / "a");
  put("a/a.cc", "of the folder");
  fs::remove_all(m_folder / "b");
  put("b", "now a file");
  synchronize(m_folder, m_copy);
  EXPECT_EQ(sys::read_file(m_copy / "a/a.cc"), "of the folder");
  EXPECT_EQ(sys::read_file(m_copy / "src/a.cc"), "int a;\n");  // not written through the link
  EXPECT_EQ(sys::read_file(m_copy / "b"), "now a file");
}

TEST_F(Folder, ResumesAnInterruptedCopy) {
  // Killed before the list was rewritten: the files exist, their names are known.
  synchronize(m_folder, m_copy);
  const fs::path list = m_temporary.path() / "copy.source-files";
  ASSERT_TRUE(fs::exists(list));
  const std::int64_t before = mtime(m_copy / "src/a.cc");
  fs::remove(list);
  synchronize(m_folder, m_copy);
  EXPECT_EQ(mtime(m_copy / "src/a.cc"), before);
  fs::remove(m_folder / "src/a.cc");
  synchronize(m_folder, m_copy);
  EXPECT_FALSE(fs::exists(m_copy / "src/a.cc"));
  // A forged list removes nothing outside.
  put(m_temporary.path(), "precious", "x");
  sys::write_file(list, std::string("x ../precious\0x /etc\0rubbish", 27));
  synchronize(m_folder, m_copy);
  EXPECT_TRUE(fs::exists(m_temporary.path() / "precious"));
}

}  // namespace
}  // namespace wheelsmith::source
