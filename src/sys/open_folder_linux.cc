// The kernel itself refuses to leave a folder: openat2 with RESOLVE_BENEATH stops at "..", absolute links and links
// that point outside, and no process can swap a folder for a link between check and open. Kernels before 5.6 and some
// containers lack it; there each component is opened separately and no link is followed at all, which is stricter.

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/write_linux.h"
#include "sys/open_folder.h"

namespace wheelsmith::sys {

namespace {

FileStat to_stat(const struct stat& raw) {
  const auto nanoseconds = [](const struct timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  return {raw.st_ino, static_cast<std::uint64_t>(raw.st_size), nanoseconds(raw.st_mtim), nanoseconds(raw.st_ctim)};
}

// Component by component, following no links. Not open, with errno set, on failure.
Fd open_by_parts(const Fd& folder, const std::string& name, int flags, mode_t mode) {
  Fd at;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    const bool last = end == name.size();
    if (part == ".." || part.empty()) {
      errno = EXDEV;
      return {};
    }
    Fd next(::openat(at.is_open() ? at.raw() : folder.raw(), part.c_str(),
                     (last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC, last ? mode : 0));
    if (!next.is_open() || last) return next;
    at = std::move(next);
    begin = end + 1;
  }
}

// Not open, with errno set, on failure. Write access never goes through links: their target may change at any time.
Fd open_beneath(const Fd& folder, const std::string& name, int flags, mode_t mode = 0, bool follow = true) {
  static std::atomic<bool> is_missing{false};
  if (!is_missing) {
    struct open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | (follow ? 0ULL : RESOLVE_NO_SYMLINKS);
    for (int tries = 0; tries < 100; ++tries) {
      Fd fd(static_cast<int>(::syscall(SYS_openat2, folder.raw(), name.c_str(), &how, sizeof how)));
      // EAGAIN: something was renamed during the lookup, and the kernel could not be sure.
      if (fd.is_open() || (errno != ENOSYS && errno != EPERM && errno != EAGAIN)) return fd;
      if (errno == ENOSYS || errno == EPERM) break;
    }
    if (errno == ENOSYS) is_missing = true;
  }
  if (name == ".") return Fd(::openat(folder.raw(), ".", flags | O_CLOEXEC));
  return open_by_parts(folder, name, flags, mode);
}

// Errors that mean "not available", as opposed to disk errors.
bool is_unreachable(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case EXDEV:
    case ENAMETOOLONG:
    case EACCES:
    case EISDIR:
    case ENXIO:
    case EINVAL: return true;
    default: return false;
  }
}

std::string or_dot(const std::string& name) { return name.empty() ? "." : name; }

}  // namespace

FileStat OpenFile::stat_now() const {
  struct stat raw{};
  if (::fstat(m_fd.raw(), &raw) != 0) throw_sys_error(errno, "stat", "an open file");
  return to_stat(raw);
}

std::size_t OpenFile::read_at(std::uint64_t offset, std::span<std::uint8_t> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t size = ::pread(m_fd.raw(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw Error(fmt::format("read error: {}", std::generic_category().message(errno)));
    if (size == 0) break;
    done += static_cast<std::size_t>(size);
  }
  return done;
}

OpenFolder::OpenFolder(const std::filesystem::path& path)
    : m_path(path), m_fd(::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!m_fd.is_open()) throw_sys_error(errno, "open the folder", path);
}

std::vector<OpenFolder::Entry> OpenFolder::entries(const std::string& folder, bool (*wanted)(std::string_view)) const {
  std::vector<Entry> result;
  Fd fd = open_beneath(m_fd, or_dot(folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, false);
  if (!fd.is_open()) {
    if (errno != EACCES && is_unreachable(errno)) return result;
    throw_sys_error(errno, "read the folder", m_path / folder);
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(fd.raw()), ::closedir);
  if (!stream) throw_sys_error(errno, "read the folder", m_path / folder);
  const int open_fd = fd.release();  // now owned by the stream
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    Entry found;
    found.name = entry->d_name;
    if (found.name == "." || found.name == "..") continue;
    found.kind = Entry::Kind::other;
    if (entry->d_type == DT_DIR) found.kind = Entry::Kind::folder;
    if (entry->d_type == DT_LNK) found.kind = Entry::Kind::link;
    if (entry->d_type == DT_REG && !wanted(found.name)) continue;
    if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN) {
      struct stat raw{};
      if (::fstatat(open_fd, entry->d_name, &raw, AT_SYMLINK_NOFOLLOW) != 0) continue;  // removed meanwhile
      if (S_ISREG(raw.st_mode)) found.kind = Entry::Kind::file;
      if (S_ISDIR(raw.st_mode)) found.kind = Entry::Kind::folder;
      if (S_ISLNK(raw.st_mode)) found.kind = Entry::Kind::link;
      found.stat = to_stat(raw);
    }
    result.push_back(std::move(found));
  }
  if (errno != 0) throw_sys_error(errno, "read the folder", m_path / folder);
  std::sort(result.begin(), result.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return result;
}

std::optional<OpenFile> OpenFolder::open_file(const std::string& name) const {
  // Non-blocking: opening a FIFO of that name would wait forever.
  Fd fd = open_beneath(m_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd.is_open()) {
    if (is_unreachable(errno)) return std::nullopt;
    throw_sys_error(errno, "open", m_path / name);
  }
  struct stat raw{};
  if (::fstat(fd.raw(), &raw) != 0 || !S_ISREG(raw.st_mode)) return std::nullopt;
  return OpenFile(std::move(fd), to_stat(raw));
}

std::optional<FileStat> OpenFolder::folder_stat(const std::string& name) const {
  struct stat raw{};
  if (::fstatat(m_fd.raw(), or_dot(name).c_str(), &raw, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(raw.st_mode))
    return std::nullopt;
  return to_stat(raw);
}

std::optional<FileStat> OpenFolder::stat_of(const std::string& name) const {
  const Fd fd = open_beneath(m_fd, name, O_PATH);
  struct stat raw{};
  if (!fd.is_open() || ::fstat(fd.raw(), &raw) != 0 || !S_ISREG(raw.st_mode)) return std::nullopt;
  return to_stat(raw);
}

std::optional<FileStat> OpenFolder::glance(const std::string& name) const {
  struct stat raw{};
  if (::fstatat(m_fd.raw(), name.c_str(), &raw, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(raw.st_mode)) return std::nullopt;
  return to_stat(raw);
}

std::optional<std::string> OpenFolder::read_file(const std::string& name, std::uint64_t limit) const {
  const std::optional<OpenFile> file = open_file(name);
  if (!file) return std::nullopt;
  if (file->stat().size > limit)
    throw Error(fmt::format("{} is larger than {}", printable((m_path / name).string()), human_bytes(limit)));
  std::string text(file->stat().size, '\0');
  text.resize(file->read_at(0, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));
  return text;
}

Fd OpenFolder::open_parent(const std::string& name, bool make) const {
  const std::size_t slash = name.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : name.substr(0, slash);
  Fd fd = open_beneath(m_fd, folder, O_PATH | O_DIRECTORY, 0, false);
  if (fd.is_open() || errno != ENOENT || !make || slash == std::string::npos) return fd;
  const Fd above = open_parent(folder, true);
  if (!above.is_open()) return {};
  const std::string last(base_name(folder));
  if (::mkdirat(above.raw(), last.c_str(), 0777) != 0 && errno != EEXIST) return {};
  return open_beneath(m_fd, folder, O_PATH | O_DIRECTORY, 0, false);
}

FileStat OpenFolder::write_file(const std::string& name, std::string_view text, bool durable) const {
  const std::filesystem::path full = m_path / name;
  const Fd parent = open_parent(name, true);
  if (!parent.is_open()) throw_write_error(errno, 0, full);
  static std::atomic<unsigned> serial{0};
  const std::string last(base_name(name));
  const std::string temporary = fmt::format(".{}.{}-{}.tmp", last.substr(0, 200), ::getpid(), ++serial);
  ::unlinkat(parent.raw(), temporary.c_str(), 0);  // left by a dead process with the same PID
  const Fd fd(::openat(parent.raw(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd.is_open()) throw_write_error(errno, text.size(), full);
  struct stat raw{};
  try {
    write_all(fd, Bytes(text), full);
    if (durable && ::fsync(fd.raw()) != 0) throw_write_error(errno, text.size(), full);
    if (::renameat(parent.raw(), temporary.c_str(), parent.raw(), last.c_str()) != 0) throw_write_error(errno, 0, full);
    if (::fstat(fd.raw(), &raw) != 0) throw_sys_error(errno, "stat", full);
  } catch (...) {
    ::unlinkat(parent.raw(), temporary.c_str(), 0);
    throw;
  }
  if (const auto error = durable ? sync_folder(full.parent_path()) : std::error_code())
    throw_sys_error(error.value(), "sync", full.parent_path());
  return to_stat(raw);
}

void OpenFolder::remove_file(const std::string& name) const {
  {
    const Fd parent = open_parent(name, false);
    if (!parent.is_open()) return;
    const std::string last(base_name(name));
    if (::unlinkat(parent.raw(), last.c_str(), 0) != 0 && errno != ENOENT)
      throw_sys_error(errno, "remove", m_path / name);
  }
  for (std::size_t slash = name.rfind('/'); slash != std::string::npos && slash > 0;
       slash = name.rfind('/', slash - 1)) {
    const std::string folder = name.substr(0, slash);
    const Fd parent = open_parent(folder, false);
    const std::string last(base_name(folder));
    if (!parent.is_open() || ::unlinkat(parent.raw(), last.c_str(), AT_REMOVEDIR) != 0) return;
  }
}

void OpenFolder::sync() const {
  if (::syncfs(m_fd.raw()) != 0) throw_sys_error(errno, "sync", m_path);
}

}  // namespace wheelsmith::sys
