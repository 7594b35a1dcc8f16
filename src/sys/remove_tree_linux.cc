#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/folder_linux.h"
#include "sys/io/fd.h"

// Removes a tree that others may change: each folder is opened by its name in its parent without following links, so
// that no process can swap a folder for a link to a home folder meanwhile. One descriptor per level would fail on trees
// of thousands of levels (an sdist can contain one), and so would recursion: entries deeper than k_deepest are moved to
// the top first.

namespace wheelsmith::sys {

namespace {

constexpr int k_deepest = 64;
constexpr int k_rounds = 5;  // another process may keep adding files

class Remover {
 public:
  Remover(int top, const std::filesystem::path& path) : m_top(top), m_path(path) {}

  // Removes the entry of that name, file or folder.
  void remove(int folder, const std::string& name, int depth) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return;
    if (errno != EISDIR) throw_sys_error(errno, "remove", m_path / name);
    for (int round = 0; round < k_rounds; ++round) {
      if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return;
      if (errno != ENOTEMPTY && errno != EEXIST) break;
      if (depth >= k_deepest && move_to_top(folder, name)) return;
      const Fd inner = open_folder(folder, name);
      if (!inner.is_open()) break;
      for (const std::string& entry : names_in(inner.raw(), m_path / name)) remove(inner.raw(), entry, depth + 1);
    }
    throw_sys_error(errno, "remove", m_path / name);
  }

 private:
  // Made accessible if its mode forbids it: module caches and archives leave read-only folders behind.
  static Fd open_folder(int folder, const std::string& name) {
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    Fd fd(::openat(folder, name.c_str(), flags));
    if (!fd.is_open() && errno == EACCES) {
      const Fd handle(::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!handle.is_open()) return fd;
      ::chmod(fmt::format("/proc/self/fd/{}", handle.raw()).c_str(), 0700);
      fd = Fd(::openat(folder, name.c_str(), flags));
    }
    struct stat status{};
    if (fd.is_open() && ::fstat(fd.raw(), &status) == 0 && (status.st_mode & 0700) != 0700) ::fchmod(fd.raw(), 0700);
    return fd;
  }

  bool move_to_top(int folder, const std::string& name) {
    { const Fd opened = open_folder(folder, name); }  // a read-only folder cannot be moved either
    const std::string moved = fmt::format(".wheelsmith-removed-{}-{}", ::getpid(), m_moved++);
    if (::renameat(folder, name.c_str(), m_top, moved.c_str()) != 0) return false;
    m_left.push_back(moved);
    return true;
  }

 public:
  void remove_moved() {
    while (!m_left.empty()) {
      const std::string name = m_left.back();
      m_left.pop_back();
      remove(m_top, name, 0);
    }
  }

 private:
  int m_top;
  std::filesystem::path m_path;
  std::vector<std::string> m_left;
  std::size_t m_moved = 0;
};

}  // namespace

std::vector<std::string> names_in(int folder_fd, const std::filesystem::path& path) {
  const int copy = ::openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) throw_sys_error(errno, "read", path);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(copy), ::closedir);
  if (folder == nullptr) {
    const int error = errno;
    ::close(copy);
    throw_sys_error(error, "read", path);
  }
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) throw_sys_error(errno, "read", path);
  return names;
}

std::vector<std::string> names_in(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) throw_sys_error(errno, "read", path);
  return names_in(fd.raw(), path);
}

void remove_tree(const std::filesystem::path& path) {
  // Without a trailing slash, which would follow a link.
  const std::filesystem::path plain = path.has_filename() ? path : path.parent_path();
  const std::string name = plain.filename().string();
  if (name.empty() || name == "." || name == "..") throw_sys_error(EINVAL, "remove", path);
  const std::filesystem::path folder = plain.has_parent_path() ? plain.parent_path() : std::filesystem::path(".");
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() && (errno == ENOENT || errno == ENOTDIR)) return;
  if (!fd.is_open()) throw_sys_error(errno, "remove", path);
  Remover remover(fd.raw(), folder);
  remover.remove(fd.raw(), name, 0);
  remover.remove_moved();
}

}  // namespace wheelsmith::sys
