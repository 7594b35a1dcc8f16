#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "sys/files.h"

namespace wheelsmith::surgery {

// Replaces and removes files of an installed distribution, all of them or none. See transaction.cc.
class Transaction {
 public:
  // Waits for another one of this distribution, and rolls back one that was killed. Paths are relative to
  // `site_packages`; `dist_info` is the folder of the distribution in it.
  Transaction(std::filesystem::path site_packages, const std::string& dist_info);
  // Without commit(): rolls back.
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Whether the constructor found and rolled back one that was killed.
  [[nodiscard]] bool recovered() const { return m_recovered; }

  // Writes the new contents beside the file; the file itself is not touched yet.
  void replace(const std::string& file, const std::function<void(Sink&)>& write);
  void replace(const std::string& file, Bytes contents);
  void remove(const std::string& file);
  void commit();

  // Rolls back what a killed process left in the distribution. Returns whether there was something. Throws Error.
  static bool recover(const std::filesystem::path& site_packages, const std::string& dist_info);

 private:
  struct Change {
    std::string file;
    enum class Kind { replaced, removed, created } kind = Kind::replaced;
  };
  static void roll_back(const std::filesystem::path& root, const std::vector<Change>& changes);
  static std::vector<Change> read_journal(const std::filesystem::path& journal);
  static bool recover_locked(const std::filesystem::path& root, const std::filesystem::path& dist_info);
  void write_journal() const;
  void refuse_second_name(const std::string& file, const std::filesystem::path& path);

  std::filesystem::path m_root;
  std::filesystem::path m_dist_info;
  std::optional<sys::FileLock> m_lock;
  std::vector<Change> m_changes;
  std::set<std::filesystem::path> m_places;  // of the changes, without links
  bool m_recovered = false;
  bool m_done = false;
};

}  // namespace wheelsmith::surgery
