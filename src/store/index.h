#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::store {

// index.sqlite: which steps an identity has, and facts remembered by fingerprint. Nothing in it is the truth, so
// nothing here throws for the database's sake: a file that is garbage is made anew, one that cannot be written is
// copied into memory, and a write that another process holds up for too long is let go. May be used by several threads.
class Index {
 public:
  struct Row {
    std::string key, identity, wheel_sha256;
    std::int64_t finished = 0;
  };

  // Opened on first use. `lock` is the file whose lock is held while a broken index is replaced.
  Index(std::filesystem::path file, std::filesystem::path lock);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  [[nodiscard]] std::optional<std::string> remembered(std::string_view kind, std::string_view subject,
                                                      std::string_view fingerprint);
  void remember(std::string_view kind, std::string_view subject, std::string_view fingerprint, std::string_view facts);

  [[nodiscard]] std::vector<Row> rows();
  [[nodiscard]] std::vector<std::string> newest(std::string_view identity);  // keys, the newest first
  void add(const Row& row);
  // Both at once, with the state of the steps folder that they bring the index to.
  void update(const std::vector<Row>& added, const std::vector<std::string>& gone, std::string_view state);
  [[nodiscard]] std::string state();

  // Whether its pages hold together.
  [[nodiscard]] bool is_sound();
  // How many remembered facts are not what was written; they count as forgotten.
  [[nodiscard]] std::size_t damaged_values();
  // Whether the file was broken when it was opened, and replaced.
  [[nodiscard]] bool was_broken();
  // An empty one in its place; nothing is kept.
  void remake();

 private:
  struct Database;
  std::unique_ptr<Database> m_database;
};

}  // namespace wheelsmith::store
