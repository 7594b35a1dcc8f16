#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "sys/file.h"
#include "sys/file_state.h"

namespace wheelsmith::sys {

namespace {

constexpr std::int64_t k_settling_nanoseconds = 2'000'000'000;

std::int64_t stat_nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// Nothing for a missing file.
std::optional<struct stat> stat_if_there(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) return status;
  if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return std::nullopt;
  throw_sys_error(errno, "stat", path);
}

std::string stat_text(const struct stat& status) {
  return fmt::format("{}:{}:{}:{}:{}", status.st_dev, status.st_ino, status.st_size, stat_nanoseconds(status.st_mtim),
                     stat_nanoseconds(status.st_ctim));
}

}  // namespace

bool is_settled(std::int64_t modified, std::int64_t changed, std::int64_t now) {
  return std::max(modified, changed) <= now - k_settling_nanoseconds;
}

bool is_settled(const struct stat& status, std::int64_t now) {
  return is_settled(stat_nanoseconds(status.st_mtim), stat_nanoseconds(status.st_ctim), now);
}

std::int64_t file_clock_nanoseconds() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &time);
  return stat_nanoseconds(time);
}

std::optional<std::string> stat_fingerprint(const std::filesystem::path& path) {
  const auto status = stat_if_there(path);
  return status ? std::optional(stat_text(*status)) : std::nullopt;
}

FileState::FileState(std::filesystem::path path, std::int64_t before_reading) : m_path(std::move(path)) {
  const auto status = stat_if_there(m_path);
  if (!status) return;
  m_key = stat_text(*status);
  m_settled = is_settled(*status, before_reading);
}

std::optional<std::string> FileState::key_to_keep() const {
  if (!m_settled || stat_fingerprint(m_path) != m_key) return std::nullopt;
  return m_key;
}

}  // namespace wheelsmith::sys
