#include "source/folder/folder_writer.h"

// The classic escape takes two entries: a link "x" to somewhere outside, then a file "x/passwd". Checking names does
// not help, since both are harmless to look at. What helps: no entry is ever written through a link. Every folder of a
// name is either known as one that we made, or refused, and is opened with O_NOFOLLOW besides.
//
// Links stay useful, then, as long as the build that follows them later stays inside too. A target may climb first and
// then go down: it starts in a real folder of depth d, climbs at most d of them, and each name behind that is a folder
// or a link of which the same holds. So no chain of links leads out. Climbing after going down breaks the proof ("l/.."
// with l a link to the top), and is refused.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/zip_epoch.h"
#include "sys/file.h"

namespace wheelsmith::source {

namespace {

constexpr std::int64_t k_first_time = k_zip_epoch + 86'400;  // a day for time zones

class Handle {
 public:
  explicit Handle(int fd = -1) : m_fd(fd) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) reset(std::exchange(other.m_fd, -1));
    return *this;
  }
  [[nodiscard]] int get() const { return m_fd; }
  [[nodiscard]] bool is_open() const { return m_fd >= 0; }
  void reset(int fd = -1) {
    if (m_fd >= 0) ::close(m_fd);
    m_fd = fd;
  }

 private:
  int m_fd;
};

enum class Kind : std::uint8_t { file, folder, symlink };

std::size_t depth_of(std::string_view name) {
  return static_cast<std::size_t>(std::count(name.begin(), name.end(), '/'));
}

Handle open_folder(int at, const std::string& name, const std::filesystem::path& place) {
  Handle handle(::openat(at, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!handle.is_open()) sys::throw_sys_error(errno, "open", place);
  return handle;
}

}  // namespace

std::optional<std::size_t> climb_of_link(std::string_view target) {
  if (target.empty() || target.starts_with('/')) return {};
  std::size_t climb = 0;
  bool went_down = false;
  for (const std::string_view part : split(target, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      went_down = true;
    } else if (went_down) {
      return {};
    } else {
      ++climb;
    }
  }
  return climb;
}

bool link_stays_inside(std::string_view name, std::string_view target) {
  const auto climb = climb_of_link(target);
  return climb && *climb <= depth_of(name);
}

struct FolderWriter::State {
  std::filesystem::path root;
  Handle root_handle;
  std::unordered_map<std::string, Kind> entries;
  std::string top;  // first part of all names so far
  bool one_top = true;
  std::string link_to_top;  // a link that leads as far up as there is
  std::string parent_name;
  Handle parent_handle;
  Handle file;
  std::string file_name;
  std::int64_t file_mtime = 0;
  std::int64_t now = 0;

  [[nodiscard]] std::filesystem::path place(const std::string& name) const { return root / name; }

  [[noreturn]] void refuse(std::string_view name, std::string_view why) const {
    throw Error(fmt::format("{} {}", printable(name), why));
  }

  void note_top(const std::string& name) {
    const std::string first = name.substr(0, name.find('/'));
    if (top.empty()) top = first;
    if (top != first) one_top = false;
  }

  // The folder that holds the entry, made where it is not there; and the entry's last part.
  std::pair<int, std::string> parent_of(const std::string& name) {
    const std::size_t slash = name.rfind('/');
    if (slash == std::string::npos) return {root_handle.get(), name};
    const std::string folder = name.substr(0, slash);
    if (!parent_handle.is_open() || parent_name != folder) {
      parent_handle = open_all(folder);
      parent_name = folder;
    }
    return {parent_handle.get(), name.substr(slash + 1)};
  }

  Handle open_all(const std::string& folder) {
    Handle handle;
    int at = root_handle.get();
    for (std::size_t begin = 0; begin <= folder.size();) {
      const std::size_t end = std::min(folder.find('/', begin), folder.size());
      const std::string prefix = folder.substr(0, end);
      const std::string part = folder.substr(begin, end - begin);
      make_folder(at, part, prefix);
      handle = open_folder(at, part, place(prefix));
      at = handle.get();
      begin = end + 1;
    }
    return handle;
  }

  void make_folder(int at, const std::string& part, const std::string& name) {
    const auto [found, is_new] = entries.try_emplace(name, Kind::folder);
    if (!is_new && found->second != Kind::folder) refuse(name, "is a file or a link, and then a folder");
    if (is_new && ::mkdirat(at, part.c_str(), 0755) != 0) sys::throw_sys_error(errno, "create", place(name));
  }

  // Makes room for an entry that is no folder.
  std::pair<int, std::string> make_room(const std::string& name, Kind kind) {
    note_top(name);
    const std::pair<int, std::string> where = parent_of(name);
    const auto [found, is_new] = entries.try_emplace(name, kind);
    if (is_new) return where;
    if (found->second != kind) refuse(name, "is there twice, as things of different kinds");
    if (::unlinkat(where.first, where.second.c_str(), 0) != 0) sys::throw_sys_error(errno, "remove", place(name));
    return where;
  }

  void end_file() {
    if (!file.is_open()) return;
    const std::int64_t time = std::clamp(file_mtime, k_first_time, std::max(k_first_time, now));
    const timespec times[2] = {{static_cast<time_t>(time), 0}, {static_cast<time_t>(time), 0}};
    if (::futimens(file.get(), times) != 0) sys::throw_sys_error(errno, "set the time of", place(file_name));
    file.reset();
  }
};

FolderWriter::FolderWriter(const std::filesystem::path& root) : m_state(std::make_unique<State>()) {
  m_state->root = root;
  m_state->root_handle = open_folder(AT_FDCWD, root.string(), root);
  m_state->now = static_cast<std::int64_t>(std::time(nullptr));
}

FolderWriter::~FolderWriter() = default;

void FolderWriter::folder(const std::string& name) {
  m_state->end_file();
  m_state->note_top(name);
  const auto [at, part] = m_state->parent_of(name);
  m_state->make_folder(at, part, name);
}

void FolderWriter::file(const std::string& name, unsigned mode, std::int64_t mtime) {
  m_state->end_file();
  const auto [at, part] = m_state->make_room(name, Kind::file);
  constexpr int k_flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  m_state->file.reset(::openat(at, part.c_str(), k_flags, 0600));
  if (!m_state->file.is_open()) sys::throw_sys_error(errno, "create", m_state->place(name));
  m_state->file_name = name;
  m_state->file_mtime = mtime;
  const mode_t bits = (mode & 0111) != 0 ? 0755 : 0644;
  if (::fchmod(m_state->file.get(), bits) != 0) sys::throw_sys_error(errno, "set the mode of", m_state->place(name));
}

void FolderWriter::write(Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(m_state->file.get(), bytes.data(), static_cast<std::size_t>(bytes.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) sys::throw_sys_error(errno, "write", m_state->place(m_state->file_name));
    bytes = bytes.from(static_cast<std::uint64_t>(written));
  }
}

void FolderWriter::symlink(const std::string& name, const std::string& target) {
  m_state->end_file();
  if (!link_stays_inside(name, target)) {
    m_state->refuse(name, fmt::format("is a link to {}, outside of the archive's folder", printable(target)));
  }
  if (*climb_of_link(target) == depth_of(name)) m_state->link_to_top = name;
  const auto [at, part] = m_state->make_room(name, Kind::symlink);
  if (::symlinkat(target.c_str(), at, part.c_str()) != 0) sys::throw_sys_error(errno, "create", m_state->place(name));
}

void FolderWriter::hard_link(const std::string& name, const std::string& target) {
  m_state->end_file();
  const auto found = m_state->entries.find(target);
  if (found == m_state->entries.end() || found->second != Kind::file || name == target) {
    m_state->refuse(name,
                    fmt::format("is a hard link to {}, which is no earlier file of the archive", printable(target)));
  }
  const std::size_t slash = target.rfind('/');
  const Handle from = slash == std::string::npos ? Handle() : m_state->open_all(target.substr(0, slash));
  const int from_at = from.is_open() ? from.get() : m_state->root_handle.get();
  const std::string from_part = slash == std::string::npos ? target : target.substr(slash + 1);
  const auto [at, part] = m_state->make_room(name, Kind::file);
  if (::linkat(from_at, from_part.c_str(), at, part.c_str(), 0) != 0) {
    sys::throw_sys_error(errno, "create", m_state->place(name));
  }
}

void FolderWriter::finish() { m_state->end_file(); }

std::optional<std::string> FolderWriter::only_folder() const {
  const auto found = m_state->entries.find(m_state->top);
  if (!m_state->one_top || found == m_state->entries.end() || found->second != Kind::folder) return {};
  return m_state->top;
}

void FolderWriter::check_strip() const {
  if (m_state->link_to_top.empty()) return;
  m_state->refuse(m_state->link_to_top, "is a link that leads out of the archive's own folder");
}

}  // namespace wheelsmith::source
