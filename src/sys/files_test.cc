#include "sys/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "sys/file.h"
#include "sys/io/write_linux.h"
#include "sys/memory_linux.h"
#include "sys/process/process.h"

namespace wheelsmith::sys {
namespace {

namespace fs = std::filesystem;

template <class Function>
std::string error_of(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::size_t count_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(AtomicFile, AppearsOnlyWithCommit) {
  const TempDir dir;
  const fs::path target = dir.path() / "target";
  {
    AtomicFile file(target);
    file.write("half");
    EXPECT_FALSE(fs::exists(target));
    EXPECT_EQ(file.temporary_path().parent_path(), dir.path());
  }
  EXPECT_EQ(count_in(dir.path()), 0u);
  {
    AtomicFile file(target);
    file.write("....world");
    file.write_at(0, Bytes("helo"));
    EXPECT_EQ(file.size(), 9u);
    EXPECT_THROW(file.write_at(8, Bytes("xx")), Error);
    EXPECT_THROW(file.write_at(~0ull, Bytes("xx")), Error);
    file.set_mode(0755);
    file.commit();
    EXPECT_THROW(file.commit(), Error);
  }
  EXPECT_EQ(read_file(target), "heloworld");
  EXPECT_EQ(fs::status(target).permissions(), static_cast<fs::perms>(0755));
  EXPECT_EQ(count_in(dir.path()), 1u);
}

TEST(AtomicFile, IsPrivateFromTheStart) {
  const TempDir dir;
  AtomicFile file(dir.path() / "secret", {}, 0600);
  EXPECT_EQ(fs::status(file.temporary_path()).permissions(), static_cast<fs::perms>(0600));
  file.commit();
  EXPECT_EQ(fs::status(dir.path() / "secret").permissions(), static_cast<fs::perms>(0600));
  write_private_file(dir.path() / "other", "x");
  EXPECT_EQ(fs::status(dir.path() / "other").permissions(), static_cast<fs::perms>(0600));
}

TEST(AtomicFile, ReplacesAndUsesAnotherFolder) {
  const TempDir dir;
  fs::create_directory(dir.path() / "tmp");
  write_file(dir.path() / "a", "old");
  AtomicFile file(dir.path() / "a", dir.path() / "tmp");
  file.write("new");
  EXPECT_EQ(file.temporary_path().parent_path(), dir.path() / "tmp");
  EXPECT_EQ(read_file(dir.path() / "a"), "old");
  file.commit();
  EXPECT_EQ(read_file(dir.path() / "a"), "new");
  EXPECT_EQ(count_in(dir.path() / "tmp"), 0u);
  write_file(dir.path() / std::string(255, 'n'), "the longest name there is");
  EXPECT_THROW(write_file(dir.path() / "tmp", "a folder is in the way"), Error);
  EXPECT_THROW(write_file(dir.path() / "none/a", "x"), Error);
  EXPECT_EQ(count_in(dir.path()), 3u);
}

TEST(AtomicFile, LeavesNothingWhenTheDiskIsFull) {
  const TempDir dir;
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const std::string error = error_of([&] { write_file(dir.path() / "a", std::string(2000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(error, "cannot write " + (dir.path() / "a").string() + ": File too large");
  EXPECT_EQ(count_in(dir.path()), 0u);
}

TEST(WriteAll, ReportsNeededSpaceAndPath) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const std::string error = error_of([&] { write_all(full, Bytes(std::string_view("12345")), "/dev/full"); });
  EXPECT_TRUE(error.starts_with("cannot write /dev/full: no space left on the disk (5 B needed, ")) << error;
  EXPECT_TRUE(error.ends_with(" free in /dev)")) << error;
}

TEST(ReadFile, ReadsProcAndRejectsTheRest) {
  const TempDir dir;
  write_file(dir.path() / "a", std::string("a\0b", 3));
  EXPECT_EQ(read_file(dir.path() / "a"), std::string("a\0b", 3));
  EXPECT_EQ(read_file(dir.path() / "a", 3).size(), 3u);
  EXPECT_THROW(read_file(dir.path() / "a", 2), Error);
  EXPECT_FALSE(read_file("/proc/self/status").empty());  // its size is 0
  EXPECT_THROW(read_file("/proc/self/status", 10), Error);
  EXPECT_THROW(read_file(dir.path()), Error);
  ASSERT_EQ(::mkfifo((dir.path() / "fifo").c_str(), 0600), 0);
  EXPECT_THROW(read_file(dir.path() / "fifo"), Error);  // and does not wait for a writer
  EXPECT_EQ(read_file_if_there(dir.path() / "none"), std::nullopt);
  EXPECT_EQ(read_file_if_there(dir.path() / "a/b"), std::nullopt);
  EXPECT_THROW(read_file(dir.path() / "none"), Error);
}

TEST(MakeFolders, CreatesParentsAndNamesObstacles) {
  const TempDir dir;
  make_folders(dir.path() / "a/b/c");
  make_folders(dir.path() / "a/b/c/");
  EXPECT_TRUE(is_folder(dir.path() / "a/b/c"));
  write_file(dir.path() / "file", "");
  EXPECT_THROW(make_folders(dir.path() / "file"), Error);
  EXPECT_THROW(make_folders(dir.path() / "file/a"), Error);
}

TEST(FileLock, LocksOtherProcessesOut) {
  const TempDir dir;
  const fs::path path = dir.path() / "lock";
  const Command probe{.argv = {"flock", "-n", path.string(), "true"}};
  if (find_program("flock").empty()) GTEST_SKIP() << "flock is not installed";
  {
    const FileLock lock(path);
    EXPECT_FALSE(capture(probe).exit.good());
    EXPECT_FALSE(FileLock::try_take(path).has_value());
    std::optional<FileLock> other = FileLock::try_take(dir.path() / "other");
    ASSERT_TRUE(other.has_value());
    FileLock moved = std::move(*other);
    EXPECT_FALSE(FileLock::try_take(dir.path() / "other").has_value());
    moved = FileLock(dir.path() / "third");
    EXPECT_TRUE(FileLock::try_take(dir.path() / "other").has_value());
  }
  EXPECT_TRUE(capture(probe).exit.good());
  EXPECT_THROW(FileLock(dir.path() / "none/lock"), Error);
}

TEST(FileLock, WaitsForTheHolderAndSurvivesADeletedFile) {
  const TempDir dir;
  const fs::path path = dir.path() / "lock";
  static int waits;
  waits = 0;
  std::atomic<bool> released{false};
  auto first = std::make_optional<FileLock>(FileLock(path));
  std::thread second([&] {
    const FileLock lock(path, [](const fs::path&) { ++waits; });
    EXPECT_TRUE(released);
    EXPECT_TRUE(fs::exists(path));  // the old file was deleted: a lock on it would exclude no one
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  fs::remove(path);
  released = true;
  first.reset();
  second.join();
  EXPECT_EQ(waits, 1);
}

TEST(FreeDisk, AnswersForMissingFolders) {
  const TempDir dir;
  EXPECT_GT(free_disk_bytes(dir.path() / "not/yet/made"), 0u);
}

struct MemoryCase {
  const char* name;
  const char* cgroup;
  std::vector<std::pair<const char*, const char*>> files;
  std::uint64_t total;
  std::uint64_t available;
};

TEST(Memory, IsBoundedByEveryParentCgroup) {
  const std::vector<MemoryCase> cases{
      {"no cgroup", "", {}, 8'192'000, 4'096'000},
      {"no limit", "0::/a\n", {{"a/memory.max", "max\n"}}, 8'192'000, 4'096'000},
      {"own limit, cache given back",
       "0::/a/b\n",
       {{"a/b/memory.max", "1000000"},
        {"a/b/memory.current", "700000"},
        {"a/b/memory.stat", "file 9\ninactive_file 500000\n"}},
       1'000'000,
       800'000},
      {"a parent's is less",
       "0::/a/b\n",
       {{"a/b/memory.max", "5000000"}, {"a/memory.max", "2000000"}, {"a/memory.current", "2500000"}},
       2'000'000,
       0},
      {"soft limit", "0::/a\n", {{"a/memory.max", "max"}, {"a/memory.high", "3000000"}}, 3'000'000, 3'000'000},
      {"path of another namespace", "0::/../..\n", {{"memory.max", "3000000"}}, 3'000'000, 3'000'000},
      {"container of version 1, path from outside",
       "5:cpu,memory:/docker/x\n",
       {{"memory/memory.limit_in_bytes", "2000000"},
        {"memory/memory.usage_in_bytes", "1500000"},
        {"memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500000\n"}},
       2'000'000,
       1'000'000},
      {"version 1 without a limit",
       "5:memory:/\n",
       {{"memory/memory.limit_in_bytes", "9223372036854771712"}},
       8'192'000,
       4'096'000},
      {"nonsense", "x\n::\n0:\n0::\n", {{"memory.max", "-5"}}, 8'192'000, 4'096'000},
  };
  for (const MemoryCase& test : cases) {
    SCOPED_TRACE(test.name);
    const TempDir root;
    make_folders(root.path() / "proc/self");
    write_file(root.path() / "proc/meminfo", "MemTotal:    8000 kB\nMemFree:  1 kB\nMemAvailable:   4000 kB\n");
    write_file(root.path() / "proc/self/cgroup", test.cgroup);
    for (const auto& [name, text] : test.files) {
      const fs::path path = root.path() / "sys/fs/cgroup" / name;
      make_folders(path.parent_path());
      write_file(path, text);
    }
    const Memory memory = memory_below(root.path());
    EXPECT_EQ(memory.total, test.total);
    EXPECT_EQ(memory.available, test.available);
  }
  EXPECT_THROW(memory_below("/nowhere"), Error);
  EXPECT_GT(memory().total, 1u << 20);
  EXPECT_LE(memory().available, memory().total);
}

}  // namespace
}  // namespace wheelsmith::sys
