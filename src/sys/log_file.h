#pragma once

#include <filesystem>
#include <string_view>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

// A file that grows while others read it. What cannot be written (a full disk) is lost: a log is no reason to fail.
class LogFile {
 public:
  // Starts anew. Throws Error when it cannot be opened.
  explicit LogFile(const std::filesystem::path& path);
  void write(std::string_view text);

 private:
  Fd m_fd;
};

}  // namespace wheelsmith::sys
