#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "store/test_store.h"
#include "sys/files.h"

namespace wheelsmith::store {

namespace {

namespace fs = std::filesystem;

std::string opening(const fs::path& root) {
  try {
    const Store store(root);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(StoreOwner, RejectsWorldWritableFolders) {
  const sys::TempDir folder;
  const fs::path root = folder.path() / "store";
  EXPECT_EQ(opening(root), "");
  for (const unsigned mode : {0775U, 0700U, 0755U}) {
    fs::permissions(root, fs::perms(mode));
    EXPECT_EQ(opening(root), "") << mode;
  }
  for (const unsigned mode : {0777U, 01777U, 0757U}) {
    fs::permissions(root, fs::perms(mode));
    EXPECT_EQ(opening(root), fmt::format("other users can write to the store {0}; run: chmod o-w {0}", root.string()));
  }
}

TEST(StoreOwner, RejectsFoldersOfOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can chown files";
  constexpr uid_t k_other = 12345, k_third = 23456;
  const sys::TempDir folder;  // in a world-writable folder, like /tmp
  ASSERT_EQ(::chmod(folder.path().c_str(), 01777), 0);
  const fs::path root = folder.path() / "store";
  sys::make_folders(root);
  ASSERT_EQ(::chown(root.c_str(), k_other, k_other), 0);
  EXPECT_NE(opening(root).find("belongs to user 12345, not to you (user 0)"), std::string::npos) << opening(root);
  fs::create_directory_symlink(root, folder.path() / "link");
  EXPECT_NE(opening(folder.path() / "link").find("belongs to user 12345"), std::string::npos);
  const auto as_user = [&](uid_t user) {
    return in_child([&] {
      ASSERT_EQ(::setresuid(user, user, user), 0);
      const std::string problem = opening(root);
      EXPECT_EQ(problem.empty(), user == k_other) << problem;
    });
  };
  EXPECT_EQ(as_user(k_other), 0);
  EXPECT_EQ(as_user(k_third), 0);
}

}  // namespace wheelsmith::store
