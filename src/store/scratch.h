#pragma once

#include <atomic>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sys/files.h"

namespace wheelsmith::store {

// The folder for unfinished files: tmp/<pid>-<start time>-<number>, one folder for each Store object; in a shared
// store tmp/<pid>-<start time>-<number>-<machine>.
class Scratch {
 public:
  // `shared`: several machines use `parent`, so names also contain the machine, and nothing is locked.
  Scratch(std::filesystem::path parent, bool shared) : m_parent(std::move(parent)), m_shared(shared) {}
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
  bool m_shared;
  std::mutex m_mutex;
  std::optional<sys::FileLock> m_alive;
  std::atomic<unsigned> m_count = 0;
};

// Entries of tmp/ that belong to no live process.
std::vector<std::filesystem::path> leftovers(const std::filesystem::path& parent);
// False when its process is alive after all or it cannot be removed.
bool remove_leftover(const std::filesystem::path& path);

}  // namespace wheelsmith::store
