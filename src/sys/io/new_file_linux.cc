#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sys/file.h"
#include "sys/io/new_file.h"
#include "sys/io/write_linux.h"

namespace wheelsmith::sys {

namespace {

constexpr int k_tries = 8;  // another process may keep recreating the name
constexpr int k_new = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

Fd open_without_links(int at, const char* name, const std::filesystem::path& path) {
  Fd fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.is_open()) throw_sys_error(errno, "open", path);
  return fd;
}

}  // namespace

NewFile NewFile::replacing(std::filesystem::path path, unsigned mode) {
  for (int i = 0; i < k_tries; ++i) {
    Fd fd(::open(path.c_str(), k_new, mode));
    if (fd.is_open()) return {std::move(fd), std::move(path)};
    if (errno == EINTR) continue;
    if (errno != EEXIST || (::unlink(path.c_str()) != 0 && errno != ENOENT)) break;
  }
  throw_sys_error(errno, "create", path);
}

void NewFile::write(Bytes bytes) { write_all(m_fd, bytes, m_path); }

void NewFile::set_mode(unsigned mode) const {
  if (::fchmod(m_fd.raw(), mode) != 0) throw_sys_error(errno, "set the mode of", m_path);
}

void NewFile::set_time(std::int64_t seconds) const {
  const timespec times[2] = {{static_cast<time_t>(seconds), 0}, {static_cast<time_t>(seconds), 0}};
  if (::futimens(m_fd.raw(), times) != 0) throw_sys_error(errno, "set the time of", m_path);
}

void NewFile::close() {
  if (m_fd.is_open() && ::close(m_fd.release()) != 0) throw_write_error(errno, 0, m_path);
}

FolderHandle::FolderHandle(std::filesystem::path path)
    : m_fd(open_without_links(AT_FDCWD, path.c_str(), path)), m_path(std::move(path)) {}

FolderHandle FolderHandle::open_folder(const std::string& name) const {
  std::filesystem::path path = m_path / name;
  Fd fd = open_without_links(m_fd.raw(), name.c_str(), path);
  return {std::move(fd), std::move(path)};
}

void FolderHandle::make_folder(const std::string& name) const {
  if (::mkdirat(m_fd.raw(), name.c_str(), 0755) != 0) throw_sys_error(errno, "create", m_path / name);
}

NewFile FolderHandle::make_file(const std::string& name) const {
  Fd fd(::openat(m_fd.raw(), name.c_str(), k_new, 0600));
  if (!fd.is_open()) throw_sys_error(errno, "create", m_path / name);
  return {std::move(fd), m_path / name};
}

void FolderHandle::make_symlink(const std::string& name, const std::string& target) const {
  if (::symlinkat(target.c_str(), m_fd.raw(), name.c_str()) != 0) throw_sys_error(errno, "create", m_path / name);
}

void FolderHandle::make_hard_link(const std::string& name, const FolderHandle& from, const std::string& target) const {
  if (::linkat(from.m_fd.raw(), target.c_str(), m_fd.raw(), name.c_str(), 0) != 0)
    throw_sys_error(errno, "create", m_path / name);
}

void FolderHandle::remove_file(const std::string& name) const {
  if (::unlinkat(m_fd.raw(), name.c_str(), 0) != 0) throw_sys_error(errno, "remove", m_path / name);
}

}  // namespace wheelsmith::sys
