#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/text.h"
#include "env/installer.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace {

constexpr std::uint64_t k_portion = 1 << 30;  // Linux writes no more than 2 GB at once
constexpr int k_tries = 8;

int create(const std::string& path, bool executable) {
  for (int i = 0; i < k_tries; ++i) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, executable ? 0777 : 0666);
    if (fd >= 0) return fd;
    if (errno == EINTR) continue;
    if (errno != EEXIST || (::unlink(path.c_str()) != 0 && errno != ENOENT)) break;
  }
  sys::throw_sys_error(errno, "create", path);
}

}  // namespace

void write_new_file(const std::string& path, Bytes bytes, bool executable) {
  const int fd = create(path, executable);
  int failure = 0;
  std::uint64_t done = 0;
  while (done < bytes.size() && failure == 0) {
    const Bytes part = bytes.clamp(done, k_portion);
    const ssize_t written = ::write(fd, part.data(), part.size());
    if (written > 0) done += static_cast<std::uint64_t>(written);
    if (written < 0 && errno != EINTR) failure = errno;
  }
  if (::close(fd) != 0 && failure == 0) failure = errno;
  if (failure == ENOSPC || failure == EDQUOT) {
    throw Error(fmt::format("cannot write {}: no space left on the disk ({} wanted, {} free)", printable(path),
                            human_bytes(bytes.size()),
                            human_bytes(sys::free_disk_bytes(std::filesystem::path(path).parent_path()))));
  }
  if (failure != 0) sys::throw_sys_error(failure, "write", path);
}

}  // namespace wheelsmith::env
