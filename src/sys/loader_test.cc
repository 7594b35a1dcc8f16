#include "sys/loader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "sys/file.h"

namespace wheelsmith::sys {
namespace {

using FolderList = std::vector<std::string>;

// Sets the value for one call only; other tests see none.
FolderList library_path_of(const std::string& value) {
  ::setenv("LD_LIBRARY_PATH", value.c_str(), 1);
  FolderList folders = library_path();
  ::unsetenv("LD_LIBRARY_PATH");
  return folders;
}

TEST(LibraryPath, IsAbsoluteAsTheLoaderSeesIt) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(library_path_of(""), FolderList());
  EXPECT_EQ(library_path_of("/a:/b;/c"), (FolderList{"/a", "/b", "/c"}));
  EXPECT_EQ(library_path_of("x/../y"), FolderList{here + "/y"});
  EXPECT_EQ(library_path_of("/a:"), (FolderList{"/a", here + "/"}));
  EXPECT_EQ(library_path(), FolderList());
}

TEST(LibraryPath, PutsFoldersForThisProcessorFirst) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("x86-64-v2")) GTEST_SKIP() << "this processor has none";
  const TempDir dir;
  const std::string better = (dir.path() / "glibc-hwcaps/x86-64-v2").string();
  std::filesystem::create_directories(better);
  std::filesystem::create_directories(dir.path() / "glibc-hwcaps/x86-64-v99");
  EXPECT_EQ(library_path_of(dir.path().string()), (FolderList{better, dir.path().string()}));
#endif
}

}  // namespace
}  // namespace wheelsmith::sys
