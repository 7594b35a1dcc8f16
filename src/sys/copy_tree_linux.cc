#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/folder_linux.h"
#include "sys/io/write_linux.h"

// Copies by the cheapest method the file system supports: sharing blocks (FICLONE: btrfs, XFS, bcachefs; a gigabyte in
// a millisecond), a copy inside the kernel, or read and write. A copy never writes through an existing entry: a link,
// or a file with other hard links, is removed first.

namespace wheelsmith::sys {

namespace {

namespace fs = std::filesystem;

constexpr mode_t k_kept_mode = 01777;  // the copy has a new owner, so set-user-ID must not survive

struct stat look_at(const fs::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) throw_sys_error(errno, "stat", path);
  return status;
}

void take_away(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw_sys_error(errno, "replace", path);
}

void copy_by_reading(const Fd& from, const Fd& to, const fs::path& source, const fs::path& target) {
  std::array<char, 128 << 10> piece;
  for (;;) {
    const ssize_t size = ::read(from.raw(), piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_sys_error(errno, "read", source);
    if (size == 0) return;
    write_all(to, Bytes(piece.data(), static_cast<std::uint64_t>(size)), target);
  }
}

void copy_bytes(const Fd& from, const Fd& to, const fs::path& source, const fs::path& target) {
  if (::ioctl(to.raw(), FICLONE, from.raw()) == 0) return;
  for (;;) {
    const ssize_t size = ::copy_file_range(from.raw(), nullptr, to.raw(), nullptr, 1u << 30, 0);
    if (size > 0) continue;
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == ENOSPC || errno == EDQUOT)) {
      const auto left = static_cast<std::uint64_t>(look_at(source).st_size);
      throw_write_error(errno, left, target);
    }
    break;
  }
  // At the end of the file this reads nothing. Where the kernel could not copy (across disks before 5.3, files of
  // /proc, which look empty to it) both positions are where it stopped.
  copy_by_reading(from, to, source, target);
}

void set_times(int fd, const char* name, const struct stat& status, const fs::path& path) {
  const std::array<timespec, 2> times{status.st_atim, status.st_mtim};
  const int result =
      name == nullptr ? ::futimens(fd, times.data()) : ::utimensat(fd, name, times.data(), AT_SYMLINK_NOFOLLOW);
  if (result != 0) throw_sys_error(errno, "set the time of", path);
}

void copy_link(const fs::path& from, const fs::path& to, const struct stat& status) {
  std::error_code error;
  const fs::path target = fs::read_symlink(from, error);
  if (error) throw_sys_error(error.value(), "read", from);
  take_away(to);
  if (::symlink(target.c_str(), to.c_str()) != 0) throw_sys_error(errno, "create the link", to);
  set_times(AT_FDCWD, to.c_str(), status, to);
}

bool hard_link(const fs::path& from, const fs::path& to) {
  take_away(to);
  if (::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) == 0) return true;
  if (errno == EXDEV || errno == EPERM || errno == EMLINK || errno == ENOTSUP || errno == ENOSYS) return false;
  throw_sys_error(errno, "link", to);
}

void make_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return;
  if (errno != EEXIST) throw_write_error(errno, 0, path);
  if (!S_ISDIR(look_at(path).st_mode)) throw_sys_error(ENOTDIR, "create the folder", path);
}

void refuse_copy_into_itself(const fs::path& from, const fs::path& to) {
  std::error_code error;
  const fs::path source = fs::weakly_canonical(from, error);
  const fs::path target = fs::weakly_canonical(to, error);
  if (std::mismatch(source.begin(), source.end(), target.begin(), target.end()).first == source.end()) {
    throw Error(fmt::format("cannot copy {} into itself", printable(from.string())));
  }
}

struct Folder {
  fs::path name;  // relative
  struct stat status;
};

void copy_entry(const fs::path& from, const fs::path& to, const struct stat& status, bool hard_links) {
  if (S_ISLNK(status.st_mode)) {
    copy_link(from, to, status);
  } else if (!S_ISREG(status.st_mode)) {
    throw Error(fmt::format("cannot copy {}: it is not a file, link or folder", printable(from.string())));
  } else if (!hard_links || !hard_link(from, to)) {
    sys::copy_file(from, to);
  }
}

}  // namespace

void copy_file(const fs::path& from, const fs::path& to) {
  const Fd source(::open(from.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!source.is_open()) throw_sys_error(errno, "open", from);
  struct stat status{};
  if (::fstat(source.raw(), &status) != 0) throw_sys_error(errno, "read", from);
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{} is not a regular file", printable(from.string())));
  struct stat there{};
  if (::stat(to.c_str(), &there) == 0 && there.st_dev == status.st_dev && there.st_ino == status.st_ino) return;
  take_away(to);
  const Fd target(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!target.is_open()) throw_write_error(errno, static_cast<std::uint64_t>(status.st_size), to);
  try {
    copy_bytes(source, target, from, to);
    if (::fchmod(target.raw(), status.st_mode & k_kept_mode) != 0) throw_sys_error(errno, "set the mode of", to);
    set_times(target.raw(), nullptr, status, to);
  } catch (...) {
    ::unlink(to.c_str());
    throw;
  }
}

void copy_tree(const fs::path& from, const fs::path& to, bool hard_links) {
  refuse_copy_into_itself(from, to);
  struct stat top{};
  if (::stat(from.c_str(), &top) != 0) throw_sys_error(errno, "copy", from);
  if (!S_ISDIR(top.st_mode)) throw_sys_error(ENOTDIR, "copy", from);
  std::vector<Folder> folders{{"", top}};
  make_folders(to.has_parent_path() ? to.parent_path() : fs::path("."));
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const fs::path folder = folders[i].name;
    make_folder(folder.empty() ? to : to / folder);
    for (const std::string& name : names_in(from / folder)) {
      const fs::path inner = folder / name;
      const struct stat status = look_at(from / inner);
      if (S_ISDIR(status.st_mode)) {
        folders.push_back({inner, status});
      } else {
        copy_entry(from / inner, to / inner, status, hard_links);
      }
    }
  }
  // Modes and times of folders are set last and bottom-up: a read-only folder accepts no files, and each new file
  // changes its folder's time.
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    const fs::path path = folder->name.empty() ? to : to / folder->name;
    if (::chmod(path.c_str(), folder->status.st_mode & k_kept_mode) != 0)
      throw_sys_error(errno, "set the mode of", path);
    set_times(AT_FDCWD, path.c_str(), folder->status, path);
  }
}

}  // namespace wheelsmith::sys
