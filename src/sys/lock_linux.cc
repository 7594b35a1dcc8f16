#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/fd.h"
#include "sys/process/process.h"

namespace wheelsmith::sys {

namespace {

// flock() is declared in <sys/file.h>, but here that name is our own header: src comes first among the include folders.
int flock_file(int fd, int operation) { return static_cast<int>(::syscall(SYS_flock, fd, operation)); }

Fd open_lock(const std::filesystem::path& path) {
  // A link could point outside a shared folder and create an empty file there.
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.is_open()) throw_sys_error(errno, "open the lock", path);
  return fd;
}

// A lock on a file that was deleted (by a cleanup) between open and flock excludes no one: the next process creates a
// new file.
bool still_there(const Fd& fd, const std::filesystem::path& path) {
  struct stat held{};
  struct stat named{};
  return ::fstat(fd.raw(), &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

// False when another process holds it. `kind` is LOCK_EX or LOCK_SH.
bool take_now(const Fd& fd, const std::filesystem::path& path, int kind) {
  while (flock_file(fd.raw(), kind | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) throw_sys_error(errno, "lock", path);
  }
  return true;
}

void take_waiting(const Fd& fd, const std::filesystem::path& path, int kind) {
  while (flock_file(fd.raw(), kind) != 0) {
    if (errno != EINTR) throw_sys_error(errno, "lock", path);
    if (interrupted()) throw Error("interrupted while waiting for the lock " + printable(path.string()));
  }
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& path, void (*on_wait)(const std::filesystem::path&)) {
  for (bool told = false;;) {
    Fd fd = open_lock(path);
    if (!take_now(fd, path, LOCK_EX)) {
      if (on_wait != nullptr && !std::exchange(told, true)) on_wait(path);
      take_waiting(fd, path, LOCK_EX);
    }
    if (still_there(fd, path)) {
      m_fd = std::move(fd);
      return;
    }
  }
}

std::optional<FileLock> FileLock::try_take(const std::filesystem::path& path) {
  for (;;) {
    Fd fd = open_lock(path);
    if (!take_now(fd, path, LOCK_EX)) return std::nullopt;
    if (!still_there(fd, path)) continue;
    FileLock lock;
    lock.m_fd = std::move(fd);
    return lock;
  }
}

FileLock FileLock::shared(const std::filesystem::path& path) {
  for (;;) {
    Fd fd = open_lock(path);
    if (!take_now(fd, path, LOCK_SH)) take_waiting(fd, path, LOCK_SH);
    if (!still_there(fd, path)) continue;
    FileLock lock;
    lock.m_fd = std::move(fd);
    return lock;
  }
}

FileLock::~FileLock() {
  // Closing alone would leave the lock to a child that another thread has forked but that has not reached exec yet.
  if (m_fd.is_open()) flock_file(m_fd.raw(), LOCK_UN);
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  FileLock taken(std::move(other));
  std::swap(m_fd, taken.m_fd);
  return *this;
}

}  // namespace wheelsmith::sys
