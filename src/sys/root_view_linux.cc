#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

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

}  // namespace

Fd RootView::own_root() { return Fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

Fd RootView::open(const std::string& path, int flags) const {
  if (!path.starts_with('/') || path.find('\0') != path.npos) return {};
  struct open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0; tries < 100; ++tries) {
    Fd fd(static_cast<int>(::syscall(SYS_openat2, m_root.raw(), path.c_str(), &how, sizeof how)));
    // EAGAIN: something was renamed while the kernel resolved a "..", and it could not be sure.
    if (fd.is_open() || errno != EAGAIN) return fd;
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
