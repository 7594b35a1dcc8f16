#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::store {

// index.sqlite: the steps of each identity, and facts remembered by fingerprint. The index is only a cache, so database
// errors are never thrown: a corrupt file is rebuilt, a read-only one is copied into memory, and a write that another
// process blocks for too long is dropped. Thread-safe.
class Index {
 public:
  struct Row {
    std::string key, identity, wheel_sha256;
    std::int64_t finished = 0;
  };

  // Opened on first use. `lock` is the file to lock while a broken index is replaced.
  Index(std::filesystem::path file, std::filesystem::path lock);
  ~Index();
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  [[nodiscard]] std::optional<std::string> remembered(std::string_view kind, std::string_view subject,
                                                      std::string_view fingerprint);
  void remember(std::string_view kind, std::string_view subject, std::string_view fingerprint, std::string_view facts);

  [[nodiscard]] std::vector<Row> rows();
  [[nodiscard]] std::vector<std::string> newest(std::string_view identity);  // keys, newest first
  void add(const Row& row);
  // Both in one transaction, with the resulting state of the steps folder.
  void update(const std::vector<Row>& added, const std::vector<std::string>& gone, std::string_view state);
  [[nodiscard]] std::string state();

  // Whether its pages are consistent.
  [[nodiscard]] bool is_sound();
  // How many remembered facts are corrupt; they are ignored.
  [[nodiscard]] std::size_t damaged_values();
  // Whether the file was broken when it was opened, and replaced.
  [[nodiscard]] bool was_broken();
  // Replaces it with an empty index.
  void remake();

 private:
  struct Database;
  std::unique_ptr<Database> m_database;
};

}  // namespace wheelsmith::store
