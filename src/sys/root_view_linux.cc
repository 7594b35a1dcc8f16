#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <memory>
#include <string_view>

#include "base/text.h"
#include "sys/root_view.h"

namespace wheelsmith::sys {

namespace {

std::optional<PathState> state_of(const Fd& fd) {
  struct stat raw{};
  if (!fd.is_open() || ::fstat(fd.raw(), &raw) != 0) return std::nullopt;
  const auto nanoseconds = [](const struct timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  PathState state;
  state.kind = S_ISREG(raw.st_mode)   ? PathState::Kind::file
               : S_ISDIR(raw.st_mode) ? PathState::Kind::folder
                                      : PathState::Kind::other;
  state.device = raw.st_dev;
  state.stat = {raw.st_ino, static_cast<std::uint64_t>(raw.st_size), nanoseconds(raw.st_mtim),
                nanoseconds(raw.st_ctim)};
  return state;
}

constexpr int k_most_links = 40;  // as in the kernel

bool is_proc(const Fd& fd) {
  struct statfs system{};
  return ::fstatfs(fd.raw(), &system) != 0 || system.f_type == PROC_SUPER_MAGIC;
}

// Resolves a path below `root` part by part, for old kernels, containers that forbid openat2, and qemu's user mode.
// Each folder on the way stays open and ".." returns to the one it was opened from, so renaming a folder meanwhile
// cannot lead out of the root. Links of /proc, which are not paths, are not followed.
Fd open_by_parts_in(const Fd& root, const std::string& path, int flags) {
  std::vector<Fd> folders;
  std::vector<std::string> parts;  // what is left, the next part last
  const auto push = [&parts](std::string_view text) {
    const std::vector<std::string_view> more = split(text, '/');
    parts.insert(parts.end(), more.rbegin(), more.rend());
  };
  const auto top = [&] { return folders.empty() ? root.raw() : folders.back().raw(); };
  push(path);
  for (int links = 0; !parts.empty();) {
    const std::string part = std::move(parts.back());
    parts.pop_back();
    if (part.empty() || part == ".") continue;  // not dropped before: "file/" is an error
    if (part == "..") {
      if (!folders.empty()) folders.pop_back();
      continue;
    }
    Fd next(::openat(top(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat raw{};
    if (!next.is_open() || ::fstat(next.raw(), &raw) != 0) return {};
    if (S_ISLNK(raw.st_mode)) {
      std::array<char, PATH_MAX> target{};
      const ssize_t size = ::readlinkat(next.raw(), "", target.data(), target.size());
      if (size <= 0 || ++links > k_most_links || is_proc(next)) {
        errno = ELOOP;
        return {};
      }
      const std::string_view text(target.data(), static_cast<std::size_t>(size));
      if (text.front() == '/') folders.clear();
      push(text);
    } else if (S_ISDIR(raw.st_mode)) {
      folders.push_back(std::move(next));
    } else if (!parts.empty()) {
      errno = ENOTDIR;
      return {};
    } else {
      return Fd(::openat(top(), part.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    }
  }
  return Fd(::openat(top(), ".", flags | O_CLOEXEC));
}

}  // namespace

Fd RootView::own_root() { return Fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

Fd RootView::open(const std::string& path, int flags) const {
  if (!path.starts_with('/') || path.find('\0') != path.npos) return {};
  static std::atomic<bool> is_missing{false};
  if (m_lookup == Lookup::by_parts || is_missing) return open_by_parts_in(m_root, path, flags);
  struct open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0; tries < 100; ++tries) {
    Fd fd(static_cast<int>(::syscall(SYS_openat2, m_root.raw(), path.c_str(), &how, sizeof how)));
    // EAGAIN: something was renamed while the kernel resolved a "..", and it could not be sure.
    if (fd.is_open()) return fd;
    if (errno == ENOSYS) is_missing = true;
    // Containers of older engines forbid the call with EPERM.
    if (errno == ENOSYS || errno == EPERM) return open_by_parts_in(m_root, path, flags);
    if (errno != EAGAIN) return fd;
  }
  return {};
}

std::optional<PathState> RootView::state(const std::string& path) const { return state_of(open(path, O_PATH)); }

std::optional<RootView::File> RootView::open_file(const std::string& path) const {
  // O_NONBLOCK: a pipe without a writer would block before we know that it is one.
  Fd fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  const auto state = state_of(fd);
  if (!state || state->kind != PathState::Kind::file) return std::nullopt;
  return File{OpenFile(std::move(fd), state->stat), *state};
}

std::optional<std::vector<std::string>> RootView::names(const std::string& path, std::size_t most) const {
  Fd fd = open(path, O_RDONLY | O_DIRECTORY);
  if (!fd.is_open()) return std::nullopt;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(fd.raw()), ::closedir);
  if (!folder) return std::nullopt;
  fd.release();
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    if (entry == nullptr) break;
    const std::string_view name = static_cast<const char*>(entry->d_name);
    if (name == "." || name == "..") continue;
    if (names.size() == most) return std::nullopt;
    names.emplace_back(name);
  }
  if (errno != 0) return std::nullopt;
  return names;
}

}  // namespace wheelsmith::sys
