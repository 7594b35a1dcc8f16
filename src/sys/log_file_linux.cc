#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/file.h"
#include "sys/files.h"
#include "sys/log_file.h"

namespace wheelsmith::sys {

LogFile::LogFile(const std::filesystem::path& path) {
  make_folders(path.parent_path());
  m_fd = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!m_fd.is_open()) throw_sys_error(errno, "write", path);
}

void LogFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(m_fd.raw(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace wheelsmith::sys
