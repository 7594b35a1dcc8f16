#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sys/file.h"
#include "sys/io/memory_file.h"

namespace wheelsmith::sys {

MemoryFile MemoryFile::make(const char* name) {
  MemoryFile file;
  file.m_fd = Fd(::memfd_create(name, MFD_CLOEXEC));
  if (file.is_open()) ::fcntl(file.m_fd.raw(), F_SETFL, O_APPEND);
  return file;
}

std::string MemoryFile::path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), m_fd.raw()); }

void MemoryFile::append(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t wrote = ::write(m_fd.raw(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) throw_sys_error(errno, "write", "a file in memory");
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::string MemoryFile::content(std::uint64_t limit) const {
  struct stat status{};
  if (!is_open() || ::fstat(m_fd.raw(), &status) != 0) return {};
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(static_cast<std::uint64_t>(status.st_size), limit)),
                   '\0');
  std::size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::pread(m_fd.raw(), text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  text.resize(have);
  return text;
}

}  // namespace wheelsmith::sys
