#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sys/files.h"

namespace wheelsmith::store {

// Where unfinished files are written: tmp/<pid>-<start time>-<number>, one folder per Store object.
class Scratch {
 public:
  explicit Scratch(std::filesystem::path parent) : m_parent(std::move(parent)) {}
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Created by the first call; throws std::system_error.
  const std::filesystem::path& folder();
  // A unique name inside it.
  std::filesystem::path next(std::string_view name);

 private:
  bool make(const std::filesystem::path& folder);

  std::filesystem::path m_parent, m_folder;
  std::mutex m_mutex;
  std::optional<sys::FileLock> m_alive;
  std::atomic<unsigned> m_count = 0;
};

// Entries of tmp/ that belong to no live process.
std::vector<std::filesystem::path> leftovers(const std::filesystem::path& parent);
// False when its process is alive after all or it cannot be removed.
bool remove_leftover(const std::filesystem::path& path);

}  // namespace wheelsmith::store
