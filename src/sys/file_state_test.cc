#include "sys/file_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t k_second = 1'000'000'000;
constexpr std::int64_t k_later = std::numeric_limits<std::int64_t>::max();

TEST(StatFingerprint, ChangesWithTheFile) {
  const TempDir dir;
  const fs::path path = dir.path() / "a";
  EXPECT_EQ(stat_fingerprint(path), std::nullopt);
  std::ofstream(path) << "a";
  const auto before = stat_fingerprint(path);
  fs::create_symlink("a", dir.path() / "link");
  EXPECT_EQ(stat_fingerprint(dir.path() / "link"), before);
  EXPECT_EQ(stat_fingerprint(path), before);
  write_file(path, "bb");
  EXPECT_NE(stat_fingerprint(path), before);
}

TEST(FileState, IsSettledTwoSecondsAfterBothTimes) {
  struct Case {
    std::int64_t modified, changed, now;
    bool settled;
  };
  for (const Case& c : {Case{10 * k_second, 10 * k_second, 12 * k_second, true},
                        Case{10 * k_second, 10 * k_second, 12 * k_second - 1, false},
                        // The time of change cannot be set; that of the last write can, to any time.
                        Case{1, 10 * k_second, 11 * k_second, false}, Case{10 * k_second, 1, 11 * k_second, false},
                        Case{20 * k_second, 10 * k_second, 15 * k_second, false}}) {
    EXPECT_EQ(is_settled(c.modified, c.changed, c.now), c.settled) << c.modified << " " << c.changed << " " << c.now;
  }
}

TEST(FileState, OfAFreshFileIsNotKept) {
  const TempDir dir;
  const fs::path path = dir.path() / "a";
  std::ofstream(path) << "a";
  // As if it had been written an hour ago.
  const timespec old{::time(nullptr) - 3600, 0};
  const timespec times[2] = {old, old};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  const FileState state(path);
  EXPECT_EQ(state.key(), stat_fingerprint(path));
  EXPECT_EQ(state.key_to_keep(), std::nullopt);
}

TEST(FileState, IsKeptUnlessTheFileChanges) {
  const TempDir dir;
  const fs::path path = dir.path() / "a";
  const FileState missing(path, k_later);
  EXPECT_EQ(missing.key(), "");
  EXPECT_EQ(missing.key_to_keep(), std::nullopt);
  std::ofstream(path) << "a";
  const FileState state(path, k_later);
  EXPECT_EQ(state.key_to_keep(), state.key());
  std::ofstream(path) << "longer";
  EXPECT_EQ(state.key_to_keep(), std::nullopt);
  fs::remove(path);
  EXPECT_EQ(state.key_to_keep(), std::nullopt);
}

TEST(FileState, OfAnOldFileIsKept) {
  const FileState state("/bin/sh");
  EXPECT_EQ(state.key_to_keep(), state.key());
}

}  // namespace
}  // namespace wheelsmith::sys
