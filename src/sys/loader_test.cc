#include "sys/loader.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

namespace wheelsmith::sys {
namespace {

TEST(LibraryPath, IsAbsoluteAsTheLoaderSeesIt) {
  const std::string here = std::filesystem::current_path().string();
  const auto with = [](const char* value) {
    ::setenv("LD_LIBRARY_PATH", value, 1);
    std::vector<std::string> folders = library_path();
    ::unsetenv("LD_LIBRARY_PATH");
    return folders;
  };
  using Folders = std::vector<std::string>;
  EXPECT_EQ(with(""), Folders());
  EXPECT_EQ(with("/a:/b;/c"), (Folders{"/a", "/b", "/c"}));
  EXPECT_EQ(with("x/../y"), Folders{here + "/y"});
  EXPECT_EQ(with("/a:"), (Folders{"/a", here + "/"}));
  EXPECT_EQ(library_path(), Folders());
}

}  // namespace
}  // namespace wheelsmith::sys
