#pragma once

#include <filesystem>
#include <string_view>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

// A file that grows while others read it. Failed writes (a full disk) are dropped: a log must not fail a build.
class LogFile {
 public:
  // Truncates. Throws Error when it cannot be opened.
  explicit LogFile(const std::filesystem::path& path);
  void write(std::string_view text);

 private:
  Fd m_fd;
};

}  // namespace wheelsmith::sys
