#pragma once

#include <cstdint>
#include <string>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

// A file in memory that has no name. Not open when the kernel has none to give.
class MemoryFile {
 public:
  MemoryFile() = default;
  // Whoever writes to it appends. `name` is only for people who look into /proc.
  static MemoryFile make(const char* name);

  [[nodiscard]] bool is_open() const { return m_fd.is_open(); }
  [[nodiscard]] const Fd& fd() const { return m_fd; }
  // By which another process of this user opens it while we live: "/proc/77/fd/4".
  [[nodiscard]] std::string path() const;
  // "" when it is not open.
  [[nodiscard]] std::string content(std::uint64_t limit = UINT64_MAX) const;

 private:
  Fd m_fd;
};

}  // namespace wheelsmith::sys
