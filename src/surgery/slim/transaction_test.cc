#include "surgery/slim/transaction.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::surgery {
namespace {

namespace fs = std::filesystem;

// An installed distribution with two files.
class TransactionTest : public ::testing::Test {
 protected:
  TransactionTest() {
    fs::create_directories(root() / "demo");
    fs::create_directories(root() / k_folder);
    sys::write_file(root() / "demo/a", "old a");
    sys::write_file(root() / "demo/b", "old b");
    sys::write_file(root() / k_folder / "METADATA", "Name: demo\n");
  }
  [[nodiscard]] const fs::path& root() const { return m_folder.path(); }
  [[nodiscard]] std::string text(const char* name) const {
    return sys::read_file_if_there(root() / name).value_or("missing");
  }
  // No file but those of the distribution.
  [[nodiscard]] std::size_t count() const {
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root())) files += entry.is_regular_file() ? 1 : 0;
    return files;
  }
  static constexpr const char* k_folder = "demo-1.0.dist-info";

 private:
  sys::TempDir m_folder;
};

TEST_F(TransactionTest, CommitsAll) {
  Transaction transaction(root(), k_folder);
  transaction.replace("demo/a", Bytes(std::string_view("new a")));
  transaction.remove("demo/b");
  transaction.replace("demo/c", Bytes(std::string_view("new c")));
  EXPECT_EQ(text("demo/a"), "old a");
  transaction.commit();
  EXPECT_EQ(text("demo/a") + ", " + text("demo/b") + ", " + text("demo/c"), "new a, missing, new c");
  EXPECT_EQ(count(), 3U);
}

TEST_F(TransactionTest, RollsBackWithoutCommit) {
  {
    Transaction transaction(root(), k_folder);
    transaction.replace("demo/a", Bytes(std::string_view("new a")));
    transaction.replace("demo/c", Bytes(std::string_view("new c")));
  }
  EXPECT_EQ(text("demo/a") + ", " + text("demo/c"), "old a, missing");
  EXPECT_EQ(count(), 3U);
}

TEST_F(TransactionTest, TheNextOneRollsBackAKilledOne) {
  // As left by a process that was killed after it had replaced a, removed b and created c.
  sys::write_file(root() / k_folder / "wheelsmith-slim.journal",
                  R"({"files": [{"file": "demo/a"}, {"file": "demo/b"}, {"file": "demo/c", "created": true}]})");
  fs::rename(root() / "demo/a", root() / "demo/.a.wheelsmith-old");
  fs::rename(root() / "demo/b", root() / "demo/.b.wheelsmith-old");
  sys::write_file(root() / "demo/a", "new a");
  sys::write_file(root() / "demo/c", "new c");
  EXPECT_TRUE(Transaction::recover(root(), k_folder));
  EXPECT_EQ(text("demo/a") + ", " + text("demo/b") + ", " + text("demo/c"), "old a, old b, missing");
  EXPECT_EQ(count(), 3U);
  EXPECT_FALSE(Transaction::recover(root(), k_folder));
}

TEST_F(TransactionTest, AJournalCannotReachOutside) {
  sys::write_file(root() / k_folder / "wheelsmith-slim.journal", R"({"files": [{"file": "../x", "created": true}]})");
  EXPECT_THROW(Transaction::recover(root(), k_folder), Error);
}

}  // namespace
}  // namespace wheelsmith::surgery
