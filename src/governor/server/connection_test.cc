#include "governor/server/connection.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "sys/file.h"

namespace wheelsmith::governor {

namespace fs = std::filesystem;

// A socket in a world-writable folder could belong to any user, and shims send it every command line.
TEST(RuntimeFolder, MustBelongToTheUser) {
  const sys::TempDir folder;
  const char* before = std::getenv("XDG_RUNTIME_DIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  const fs::path own = folder.path() / "wheelsmith";
  EXPECT_EQ(runtime_folder(), own);
  EXPECT_EQ(fs::status(own).permissions(), fs::perms(0700));
  EXPECT_EQ(runtime_folder(), own);
  for (const unsigned mode : {0755U, 0770U, 0707U, 01777U}) {
    ASSERT_EQ(::chmod(own.c_str(), mode), 0);
    EXPECT_NE(runtime_folder(), own) << mode;
  }
  ASSERT_EQ(::chmod(own.c_str(), 0700), 0);
  EXPECT_EQ(runtime_folder(), own);
  fs::rename(own, folder.path() / "elsewhere");
  fs::create_directory_symlink("elsewhere", own);
  EXPECT_NE(runtime_folder(), own);
  fs::remove(own);
  fs::rename(folder.path() / "elsewhere", own);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(own.c_str(), 12345, 12345), 0);
    EXPECT_NE(runtime_folder(), own);
  }
  kept.empty() ? ::unsetenv("XDG_RUNTIME_DIR") : ::setenv("XDG_RUNTIME_DIR", kept.c_str(), 1);
}

}  // namespace wheelsmith::governor
