#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sys/io/fd.h"
#include "sys/io/tail.h"

namespace wheelsmith::sys {

std::string read_from(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return "";
  std::string text;
  std::array<char, 65536> piece;
  while (text.size() < limit) {
    const std::size_t wanted = std::min<std::uint64_t>(piece.size(), limit - text.size());
    const ssize_t got = ::pread(fd.raw(), piece.data(), wanted, static_cast<off_t>(offset + text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace wheelsmith::sys
