#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <random>
#include <thread>

#include "base/error.h"
#include "base/hash.h"
#include "store/store.h"
#include "store/test_store.h"

// Several processes on one store, and processes that are killed.

namespace wheelsmith::store {
namespace {

TEST(Processes, WriteTheSameEntryConcurrently) {
  TestStore at;
  const auto file = at.file("demo.whl", std::string(1 << 20, 'x'));
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(start_child([&, child] {
      Store store(at.store.root());
      for (int round = 0; round < 20; ++round) {
        StepRecord record = TestStore::record("a", std::to_string(round), round);
        record.wheel_sha256 = store.put_blob(file);
        record.wheel_size = 1 << 20;
        store.put_step(record);
        store.note_cost("a", {1, 2, 3});
        store.note_try("a", record.manifest);
        store.remember("kind", std::to_string(round), std::to_string(child), "facts");
        ASSERT_TRUE(store.newest_step("a"));
        EXPECT_GE(store.newest_step("a")->finished, round);
      }
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
  EXPECT_TRUE(at.store.verify(false).empty());
  EXPECT_EQ(at.store.newest_step("a")->finished, 19);
  EXPECT_EQ(at.store.stats().steps, 20u);
  std::ifstream history(at.store.root() / "history" / (slug("a") + ".json"));
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(history), {}, '\n'), 80);
}

TEST(Processes, CreateTheIndexConcurrently) {
  for (int round = 0; round < 5; ++round) {
    TestStore at;
    if (round > 0) std::ofstream(at.store.root() / "index.sqlite") << std::string(5000, 'g');
    std::vector<pid_t> children;
    for (int child = 0; child < 4; ++child) {
      children.push_back(start_child([&, child] {
        Store store(at.store.root());
        store.remember("kind", std::to_string(child), "1", "facts");
        EXPECT_EQ(store.remembered("kind", std::to_string(child), "1"), "facts");
      }));
    }
    for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
    at.store.remember("kind", "after", "1", "facts");
    EXPECT_EQ(Store(at.store.root()).remembered("kind", "after", "1"), "facts") << round;
  }
}

// The kernel kills the process in the middle of its copy, at the first byte beyond the limit.
TEST(Processes, KilledInTheMiddleOfABlobLeavesALeftover) {
  TestStore at;
  const auto file = at.file("demo.whl", std::string(4 << 20, 'x'));
  const int status = in_child([&] {
    const rlimit core{0, 0};
    ::setrlimit(RLIMIT_CORE, &core);
    const rlimit size{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &size);
    Store(at.store.root()).put_blob(file);
  });
  ASSERT_EQ(status, 128 + SIGXFSZ);
  EXPECT_TRUE(std::filesystem::is_empty(at.store.root() / "blobs"));
  EXPECT_EQ(ids(at.store.verify(false)), std::vector<std::string>{"store-leftover"});

  std::vector<Removed> removed;
  EXPECT_GT(at.store.collect(~0ull, 1000, true, removed), 0u);
  EXPECT_EQ(ids(at.store.verify(false)), std::vector<std::string>{"store-leftover"}) << "a dry run removes nothing";
  removed.clear();
  EXPECT_GT(at.store.collect(~0ull, 1000, false, removed), 0u);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_TRUE(removed[0].path.starts_with("tmp/"));
  EXPECT_TRUE(at.store.verify(false).empty());
}

TEST(Processes, LoseNoFinishedWorkWhenKilled) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  TestStore at;
  const StepRecord before = at.step("before", "1", 1);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = start_child([&] {
      TestStore own;
      Store store(at.store.root());
      for (int i = 0;; ++i) {
        StepRecord record = TestStore::record("a", std::to_string(i), i);
        const std::string wheel(100'000 + static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
        record.wheel_sha256 = store.put_blob(own.file("wheel", wheel));
        record.wheel_size = wheel.size();
        store.put_step(record);
        store.remember("kind", std::to_string(i), "1", "facts");
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(2'000 + random() % 40'000));
    ::kill(child, SIGKILL);
    ASSERT_EQ(end_of(child), 128 + SIGKILL);
    for (const Finding& finding : at.store.verify(false)) {
      EXPECT_TRUE(finding.id == "store-leftover" || finding.id == "store-index-stale") << finding.id << finding.what;
    }
    EXPECT_TRUE(at.store.find_step(before.key));
    (void)at.store.newest_step("a");
  }
  std::vector<Removed> removed;
  at.store.collect(~0ull, 1000, false, removed);
  at.store.verify(true);
  EXPECT_TRUE(at.store.verify(false).empty());
}

TEST(Processes, LiveProcessesHaveNoLeftovers) {
  TestStore at;
  std::ofstream(at.store.temporary() / "half") << "text";
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = start_child([&] {
    Store store(at.store.root());
    std::ofstream(store.temporary() / "half") << "text";
    (void)!::write(ready[1], "x", 1);
    ::pause();
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  std::vector<Removed> removed;
  at.store.collect(0, 0, false, removed);
  EXPECT_TRUE(removed.empty());
  EXPECT_TRUE(at.store.verify(false).empty());
  ::kill(child, SIGKILL);
  end_of(child);
  EXPECT_EQ(ids(at.store.verify(false)), std::vector<std::string>{"store-leftover"});
  EXPECT_TRUE(std::filesystem::exists(at.store.temporary() / "half"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(Processes, RemoveTheScratchFolderWithItsStore) {
  TestStore at;
  {
    Store store(at.store.root());
    std::ofstream(store.temporary() / "half") << "text";
    EXPECT_NE(store.temporary(), at.store.temporary());
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(at.store.root() / "tmp"), {}), 1);
}

}  // namespace
}  // namespace wheelsmith::store
