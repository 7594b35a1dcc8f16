#include <gtest/gtest.h>

#include <csignal>

#include "base/error.h"
#include "store/sharing.h"
#include "store/test_store.h"

// A store that several machines share. Two Store objects with different scratch folders are two machines, as far as
// anything in the store can tell.

namespace wheelsmith::store {
namespace {

struct SharedStore {
  sys::TempDir temp;
  std::filesystem::path root = temp.path() / "store";
  SharedStore() { Store::set_shared(root, true); }

  [[nodiscard]] StoreOptions machine(const std::string& name) const {
    return {.scratch = temp.path() / name, .claim_timeout = std::chrono::milliseconds(500)};
  }
};

TEST(SharedStore, IsMarkedForEveryMachine) {
  const SharedStore at;
  const Store one(at.root, at.machine("a")), two(at.root, at.machine("b"));
  EXPECT_TRUE(one.is_shared());
  EXPECT_NE(one.local_root(), two.local_root());
  EXPECT_EQ(one.local_root().filename(), two.local_root().filename()) << "the id of the store";
  for (const auto& path : {one.tree("t"), one.env("e"), one.toolkit("k"), one.folder("shims"), one.temporary()})
    EXPECT_TRUE(sys::is_within(path, one.local_root())) << path;
  for (const char* name : {"downloads", "git", "logs", "units", "objects"})
    EXPECT_TRUE(sys::is_within(one.folder(name), at.root)) << name;
  Store::set_shared(at.root, false);
  EXPECT_FALSE(Store(at.root).is_shared());
}

TEST(SharedStore, HasNoIndexInIt) {
  const SharedStore at;
  Store store(at.root, at.machine("a"));
  store.remember("kind", "subject", "1", "facts");
  (void)store.newest_step("a");
  EXPECT_FALSE(std::filesystem::exists(at.root / "index.sqlite"));
  EXPECT_TRUE(std::filesystem::exists(store.local_root() / "index.sqlite"));
}

TEST(SharedStore, OneMachineSeesWhatAnotherPublished) {
  const SharedStore at;
  Store one(at.root, at.machine("a")), two(at.root, at.machine("b"));
  StepRecord record = TestStore::record("texture", "1", 5);
  EXPECT_FALSE(two.find_step(record.key));
  std::ofstream(at.temp.path() / "wheel") << "wheel";
  record.wheel_sha256 = one.put_blob(at.temp.path() / "wheel");
  record.wheel_size = 5;
  one.put_step(record);
  one.note_cost("texture", {3, 2, 1});
  EXPECT_TRUE(two.find_step(record.key));
  EXPECT_TRUE(two.newest_step("texture"));
  ASSERT_TRUE(two.last_cost("texture"));
  EXPECT_EQ(two.last_cost("texture")->seconds, 3);
  EXPECT_TRUE(two.verify(false).empty());
}

TEST(SharedStore, LocksExcludeOtherMachinesWhereResultsAreShared) {
  const SharedStore at;
  const Store one(at.root, at.machine("a")), two(at.root, at.machine("b"));
  const Lock step = one.lock(step_lock("k"));
  EXPECT_FALSE(two.try_lock(step_lock("k")));
  const Lock tree = one.lock(tree_lock("t"));
  EXPECT_TRUE(two.try_lock(tree_lock("t"))) << "each machine has its own tree";
  EXPECT_FALSE(one.try_lock(tree_lock("t")));
}

TEST(SharedStore, ASecondMachineTakesWhatTheFirstBuilt) {
  const SharedStore at;
  const std::string key = TestStore::record("texture", "1", 5).key;
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    children.push_back(start_child([&, child] {
      Store store(at.root, at.machine("machine" + std::to_string(child)));
      const Lock lock = store.lock(step_lock(key));
      if (store.find_step(key)) return;
      std::ofstream(at.temp.path() / ("built-" + std::to_string(child))) << "wheel";
      StepRecord record = TestStore::record("texture", "1", 5);
      record.wheel_sha256 = store.put_blob(at.temp.path() / ("built-" + std::to_string(child)));
      record.wheel_size = 5;
      store.put_step(record);
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
  int built = 0;
  for (int child = 0; child < 4; ++child)
    built += std::filesystem::exists(at.temp.path() / ("built-" + std::to_string(child))) ? 1 : 0;
  EXPECT_EQ(built, 1);
}

TEST(SharedStore, CollectLeavesWhatOtherMachinesMayUse) {
  const SharedStore at;
  Store one(at.root, at.machine("a")), two(at.root, at.machine("b"));
  std::ofstream(one.temporary() / "half") << "x";
  std::ofstream(one.staging() / "half") << "x";
  std::ofstream(at.temp.path() / "wheel") << "wheel";
  StepRecord record = TestStore::record("texture", "1", 5);
  record.wheel_sha256 = one.put_blob(at.temp.path() / "wheel");
  record.wheel_size = 5;
  one.put_step(record);
  std::vector<Removed> removed;
  two.collect(0, 0, false, removed);
  EXPECT_TRUE(removed.empty()) << removed.front().path;
  EXPECT_TRUE(two.find_step(record.key));
  EXPECT_TRUE(std::filesystem::exists(one.staging() / "half"));
}

TEST(SharedStore, LeftoversOfDeadProcessesAreRemoved) {
  const SharedStore at;
  ASSERT_EQ(in_child([&] {
              Store store(at.root, at.machine("a"));
              std::ofstream(store.staging() / "half") << "x";
              ::kill(::getpid(), SIGKILL);
            }),
            128 + SIGKILL);
  Store store(at.root, at.machine("a"));
  // Of a machine that nothing is known about: it may still write.
  std::filesystem::create_directories(at.root / "tmp" / "12-34-0-0123456789abcdef");
  std::vector<Removed> removed;
  store.collect(~0ull, 0, false, removed);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_TRUE(std::filesystem::exists(at.root / "tmp" / "12-34-0-0123456789abcdef"));
}

TEST(Sharing, RefusesWhatCouldBeAPath) {
  EXPECT_TRUE(parse_sharing(R"({"schema":1,"shared":true,"id":"00000000000000000000000000000000"})"));
  EXPECT_FALSE(parse_sharing(R"({"schema":1,"shared":true,"id":"../../../../etc/xxxxxxxxxxxxxxxxxx"})"));
  EXPECT_FALSE(parse_sharing(R"({"schema":2,"shared":true,"id":"00000000000000000000000000000000"})"));
  EXPECT_FALSE(parse_sharing("shared"));
}

TEST(Sharing, ADamagedMarkMeansShared) {
  const SharedStore at;
  std::ofstream(at.root / "store.json", std::ios::trunc) << "{";
  EXPECT_TRUE(Store(at.root, at.machine("a")).is_shared());
}

TEST(Sharing, AScratchFolderOfAnotherUserIsRefused) {
  const SharedStore at;
  const auto own = at.machine("a").scratch / ("wheelsmith-" + std::to_string(::geteuid()));
  std::filesystem::create_directories(own);
  std::filesystem::permissions(own, std::filesystem::perms::all);
  EXPECT_THROW(Store(at.root, at.machine("a")), Error);
}

}  // namespace
}  // namespace wheelsmith::store
