#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/write_linux.h"
#include "sys/unfinished_files.h"

// A reader must never see a partial file, not even after a power failure. rename() is atomic for readers. For a power
// failure the file's bytes must be on disk before its name (fsync, then rename), and the name before success is
// reported (fsync of the folder).

namespace wheelsmith::sys {

namespace {

constexpr std::uint64_t k_write_piece = 1ull << 30;  // the kernel accepts at most 2 GiB per call

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::error_code last_error() { return {errno, std::generic_category()}; }

// Names of temporary files, for a handler of signals, which may use neither locks nor memory that another thread frees.
// If the table is full, or a name is too long for it, a signal leaves files behind, as SIGKILL does.
constexpr std::size_t k_longest_name = 1000;
struct Unfinished {
  std::atomic<bool> used = false;  // for the handler
  std::array<char, k_longest_name> path{};
};
std::array<Unfinished, 64> g_unfinished;
std::mutex g_unfinished_mutex;              // of the threads that change the table
std::atomic<pid_t> g_unfinished_owner = 0;  // a child between fork and exec has the same table

void remember_unfinished(const std::string& path) {
  const std::lock_guard lock(g_unfinished_mutex);
  g_unfinished_owner = ::getpid();
  const auto slot = std::ranges::find_if(g_unfinished, [](const Unfinished& one) { return !one.used; });
  if (slot == g_unfinished.end() || path.size() >= k_longest_name) return;
  std::ranges::copy(path, slot->path.begin());
  slot->path[path.size()] = '\0';
  slot->used = true;
}

void forget_unfinished(const std::string& path) {
  const std::lock_guard lock(g_unfinished_mutex);
  for (Unfinished& one : g_unfinished) {
    if (one.used && path == one.path.data()) one.used = false;
  }
}

// Hidden and unique: two programs may write the same target at the same time.
std::string temporary_name(const std::filesystem::path& target) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) throw_sys_error(errno, "name", target);
  return fmt::format(".{}.{:016x}.tmp", target.filename().string().substr(0, 200), random);
}

}  // namespace

void throw_write_error(int error_number, std::uint64_t wanted, const std::filesystem::path& path) {
  if (error_number == ENOSPC || error_number == EDQUOT) {
    throw Error(fmt::format("cannot write {}: {} ({} needed, {} free in {})", printable(path.string()),
                            error_number == ENOSPC ? "no space left on the disk" : "disk quota exceeded",
                            human_bytes(wanted), human_bytes(free_disk_bytes(folder_of(path))),
                            printable(folder_of(path).string())));
  }
  if (error_number == EROFS) {
    throw Error(fmt::format("cannot write {}: its disk is mounted read-only", printable(path.string())));
  }
  throw_sys_error(error_number, "write", path);
}

void write_all(const Fd& fd, Bytes bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const auto piece = static_cast<std::size_t>(std::min(bytes.size(), k_write_piece));
    const ssize_t size = ::write(fd.raw(), bytes.data(), piece);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw_write_error(size < 0 ? errno : EIO, bytes.size(), path);
    bytes = bytes.from(static_cast<std::uint64_t>(size));
  }
}

void write_all_at(const Fd& fd, std::uint64_t offset, Bytes bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const auto piece = static_cast<std::size_t>(std::min(bytes.size(), k_write_piece));
    const ssize_t size = ::pwrite(fd.raw(), bytes.data(), piece, static_cast<off_t>(offset));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw_write_error(size < 0 ? errno : EIO, bytes.size(), path);
    bytes = bytes.from(static_cast<std::uint64_t>(size));
    offset += static_cast<std::uint64_t>(size);
  }
}

std::error_code sync_file(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.is_open() && ::fsync(fd.raw()) == 0 ? std::error_code() : last_error();
}

std::error_code sync_folder(const std::filesystem::path& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return last_error();
  if (::fsync(fd.raw()) != 0 && errno != EINVAL && errno != ENOTSUP) return last_error();
  return {};
}

void remove_unfinished_files() {
  if (g_unfinished_owner != ::getpid()) return;
  for (const Unfinished& one : g_unfinished) {
    if (one.used) ::unlink(one.path.data());
  }
}

AtomicFile::AtomicFile(std::filesystem::path target, std::filesystem::path temporary_folder, unsigned mode)
    : m_target(std::move(target)) {
  if (!m_target.has_filename()) throw_sys_error(EISDIR, "write", m_target);
  const std::filesystem::path folder = temporary_folder.empty() ? folder_of(m_target) : std::move(temporary_folder);
  do {
    m_temporary = folder / temporary_name(m_target);
    m_fd = Fd(::open(m_temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  } while (!m_fd.is_open() && errno == EEXIST);
  if (!m_fd.is_open()) throw_write_error(errno, 0, m_target);
  remember_unfinished(m_temporary.native());
}

AtomicFile::~AtomicFile() {
  if (m_temporary.empty()) return;
  ::unlink(m_temporary.c_str());
  forget_unfinished(m_temporary.native());
}

void AtomicFile::write(Bytes bytes) {
  write_all(m_fd, bytes, m_target);
  m_size += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, Bytes bytes) {
  if (offset > m_size || bytes.size() > m_size - offset) {
    throw Error(
        fmt::format("cannot write {} at {}: only {} bytes were written", printable(m_target.string()), offset, m_size));
  }
  write_all_at(m_fd, offset, bytes, m_target);
}

void AtomicFile::set_mode(unsigned mode) {
  if (::fchmod(m_fd.raw(), mode) != 0) throw_sys_error(errno, "set the mode of", m_target);
}

void AtomicFile::commit() {
  if (!m_fd.is_open()) throw Error(fmt::format("{} was committed twice", printable(m_target.string())));
  if (::fsync(m_fd.raw()) != 0) throw_write_error(errno, m_size, m_target);
  // A network disk may report a failed write only here.
  if (::close(m_fd.release()) != 0) throw_write_error(errno, m_size, m_target);
  if (::rename(m_temporary.c_str(), m_target.c_str()) != 0) throw_write_error(errno, 0, m_target);
  forget_unfinished(m_temporary.native());
  m_temporary.clear();
  const std::filesystem::path folder = folder_of(m_target);
  if (const auto error = sync_folder(folder)) throw_sys_error(error.value(), "sync", folder);
}

std::error_code append_text(const std::filesystem::path& path, std::string_view text) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.is_open()) return last_error();
  const ssize_t written = ::write(fd.raw(), text.data(), text.size());
  if (written < 0) return last_error();
  if (static_cast<std::size_t>(written) != text.size()) return std::make_error_code(std::errc::no_space_on_device);
  return {};
}

void write_private_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path, {}, 0600);
  file.write(text);
  file.commit();
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace wheelsmith::sys
