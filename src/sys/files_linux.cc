#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/io/fd.h"
#include "sys/ownership.h"

namespace wheelsmith::sys {

namespace {

bool means_absent(int error) { return error == ENOENT || error == ENOTDIR; }

// The result of read_file(), or its error.
struct Reading {
  std::string text;
  std::string problem;
};

Reading read_open_file(const Fd& fd, const std::filesystem::path& path, std::uint64_t limit) {
  struct stat status{};
  if (::fstat(fd.raw(), &status) != 0) return {{}, sys_error_text(errno, "read", path)};
  if (!S_ISREG(status.st_mode)) return {{}, fmt::format("{} is not a regular file", printable(path.string()))};
  const auto too_large = [&] {
    return Reading{{}, fmt::format("{} is larger than {}", printable(path.string()), human_bytes(limit))};
  };
  const auto expected = static_cast<std::uint64_t>(status.st_size);
  if (expected > limit) return too_large();
  // Files of /proc have no size, and others may grow while they are read: read() decides where the end is.
  std::string text(static_cast<std::size_t>(expected) + 1, '\0');
  std::size_t used = 0;
  for (;;) {
    if (used == text.size()) text.resize(std::max<std::size_t>(text.size() * 2, 4096));
    const ssize_t size = ::read(fd.raw(), text.data() + used, text.size() - used);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return {{}, sys_error_text(errno, "read", path)};
    if (size == 0) break;
    used += static_cast<std::size_t>(size);
    if (used > limit) return too_large();
  }
  text.resize(used);
  return {std::move(text), {}};
}

std::string text_or_error(Reading reading) {
  if (!reading.problem.empty()) throw Error(reading.problem);
  return std::move(reading.text);
}

// Non-blocking: opening a FIFO would wait for a writer.
Fd open_to_read(const std::filesystem::path& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

Ownership to_ownership(const struct stat& status) {
  return {.user = status.st_uid, .group = status.st_gid, .mode = status.st_mode & 07777, .device = status.st_dev};
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t limit) {
  const Fd fd = open_to_read(path);
  if (!fd.is_open()) throw_sys_error(errno, "open", path);
  return text_or_error(read_open_file(fd, path, limit));
}

OwnedText read_owned_file(const std::filesystem::path& path, std::uint64_t limit) {
  const Fd fd = open_to_read(path);
  struct stat status{};
  if (!fd.is_open() || ::fstat(fd.raw(), &status) != 0) throw_sys_error(errno, "open", path);
  return {text_or_error(read_open_file(fd, path, limit)), to_ownership(status)};
}

std::optional<Ownership> ownership_of(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return to_ownership(status);
}

unsigned current_user() { return ::geteuid(); }

std::optional<std::string> read_file_if_there(const std::filesystem::path& path, std::uint64_t limit) {
  const Fd fd = open_to_read(path);
  if (!fd.is_open() && means_absent(errno)) return std::nullopt;
  if (!fd.is_open()) throw_sys_error(errno, "open", path);
  return text_or_error(read_open_file(fd, path, limit));
}

std::optional<std::string> read_file_if_possible(const std::filesystem::path& path, std::uint64_t limit) {
  const Fd fd = open_to_read(path);
  if (!fd.is_open()) return std::nullopt;
  Reading reading = read_open_file(fd, path, limit);
  if (!reading.problem.empty()) return std::nullopt;
  return std::move(reading.text);
}

std::optional<std::size_t> read_start(const char* path, std::span<char> into) {
  const Fd fd(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return std::nullopt;
  std::size_t used = 0;
  while (used < into.size()) {
    const ssize_t size = ::read(fd.raw(), into.data() + used, into.size() - used);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    used += static_cast<std::size_t>(size);
  }
  return used;
}

void touch(const std::filesystem::path& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

void make_folders(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  // create_directories() does not always report an existing file as an error.
  if (!error && !is_folder(path)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) throw_sys_error(error.value(), "create the folder", path);
}

namespace {

// Half a gigabyte of a large disk, a fiftieth of a small one.
constexpr std::uint64_t k_reserve = 500'000'000;

}  // namespace

bool is_nearly_full(const std::filesystem::path& path) {
  struct statvfs disk{};
  if (::statvfs(path.c_str(), &disk) != 0) return false;
  const std::uint64_t total = static_cast<std::uint64_t>(disk.f_blocks) * disk.f_frsize;
  const std::uint64_t left = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  return left < std::min(k_reserve, total / 50);
}

std::uint64_t free_disk_bytes(const std::filesystem::path& path) {
  // A folder that does not exist yet will be on its nearest parent's disk.
  std::error_code error;
  std::filesystem::path place = std::filesystem::absolute(path, error);
  struct statvfs disk{};
  while (::statvfs(place.c_str(), &disk) != 0) {
    if (!means_absent(errno) || place == place.parent_path()) throw_sys_error(errno, "examine the disk of", path);
    place = place.parent_path();
  }
  return static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
}

}  // namespace wheelsmith::sys
