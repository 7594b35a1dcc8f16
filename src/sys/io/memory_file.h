#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

// An unnamed file in memory. Not open when the kernel cannot provide one.
class MemoryFile {
 public:
  MemoryFile() = default;
  // Writers append. `name` only shows up in /proc.
  static MemoryFile make(const char* name);

  [[nodiscard]] bool is_open() const { return m_fd.is_open(); }
  [[nodiscard]] const Fd& fd() const { return m_fd; }
  // Path by which another process of this user opens it while this one lives: "/proc/77/fd/4".
  [[nodiscard]] std::string path() const;
  void append(std::string_view text) const;  // throws Error
  // "" when it is not open.
  [[nodiscard]] std::string content(std::uint64_t limit = UINT64_MAX) const;

 private:
  Fd m_fd;
};

}  // namespace wheelsmith::sys
