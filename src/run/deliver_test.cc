#include "run/deliver.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

namespace fs = std::filesystem;

struct Delivery {
  sys::TempDir folder;
  store::Store store{folder.path() / "store"};
  fs::path out = folder.path() / "out";

  Artifact put(const std::string& name, const std::string& text) {
    const fs::path file = store.temporary() / "wheel";
    sys::write_file(file, text);
    return {name, store.put_blob(file), text.size()};
  }
};

}  // namespace

TEST(Deliver, DeliversAWheelUnderItsName) {
  Delivery at;
  const Delivered first = deliver(at.put("a.whl", "one"), at.out, at.store);
  EXPECT_EQ(first.path, at.out / "a.whl");
  EXPECT_FALSE(first.replaced);
  EXPECT_EQ(sys::read_file(first.path), "one");
  // The store's blob is read-only; the delivered file is writable.
  EXPECT_NE(fs::status(first.path).permissions() & fs::perms::owner_write, fs::perms::none);
}

TEST(Deliver, KeepsAnIdenticalWheel) {
  Delivery at;
  const Artifact wheel = at.put("a.whl", "one");
  const fs::path path = deliver(wheel, at.out, at.store).path;
  const auto before = sys::stat_fingerprint(path);
  EXPECT_FALSE(deliver(wheel, at.out, at.store).replaced);
  EXPECT_EQ(sys::stat_fingerprint(path), before);
}

TEST(Deliver, ReportsThatItReplacedADifferentWheel) {
  Delivery at;
  (void)deliver(at.put("a.whl", "one"), at.out, at.store);
  const Delivered second = deliver(at.put("a.whl", "two"), at.out, at.store);
  EXPECT_TRUE(second.replaced);
  EXPECT_EQ(sys::read_file(second.path), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(at.out), fs::directory_iterator()), 1);  // no partial files
}

TEST(Deliver, RejectsAWheelMissingFromTheStore) {
  Delivery at;
  EXPECT_THROW((void)deliver({"a.whl", std::string(64, 'a'), 1}, at.out, at.store), Error);
  EXPECT_FALSE(find_artifact("no such key", at.store));
}

}  // namespace wheelsmith::run
