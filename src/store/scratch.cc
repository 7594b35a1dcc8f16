#include "store/scratch.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/shared_folder.h"

// A killed process cannot clean up, so other processes must detect that it is gone. Its folder's name contains its PID
// and start time (PIDs are reused, the pair is not), and the folder contains a file that the process keeps locked.
// Either sign of life suffices: for a process in another container or on another machine the PID means nothing here,
// but its lock is visible; a process that has just created its folder has no lock yet, but its PID is known.

namespace wheelsmith::store {

namespace {

constexpr const char* k_alive = ".alive";
constexpr std::int64_t k_foreign_age_seconds = 86'400;

// Identifies the kernel and PID namespace that a process number belongs to; 16 hex digits.
std::string machine_name() {
  const sys::ProcessIdentity own = sys::own_identity();
  return to_hex(sha256(Bytes(own.boot + "\n" + own.space))).substr(0, 16);
}

// Its PID and start time, or nothing for a name not created by Scratch.
std::optional<std::pair<std::uint64_t, std::string>> owner(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const auto parts = split(name, '-');
  if (parts.size() != 3 || !to_number(parts[1]) || !to_number(parts[2])) return std::nullopt;
  const auto pid = to_number(parts[0]);
  if (!pid) return std::nullopt;
  return std::pair(*pid, std::string(parts[1]));
}

// The lock of a dead process's folder, or nothing when there is a sign of life.
std::optional<sys::FileLock> take_from_dead(const std::filesystem::path& folder) {
  const auto process = owner(folder);
  if (!process || sys::process_start(process->first) == process->second) return std::nullopt;
  return sys::FileLock::try_take(folder / k_alive);
}

// By the clock of the file server if possible.
bool is_old(const std::filesystem::path& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return false;
  std::int64_t now = sys::unix_nanoseconds() / 1'000'000'000;
  try {
    now = sys::file_system_seconds(path.parent_path());
  } catch (const Error&) {
    // The folder is not writable: use the clock of this machine.
  }
  return now - status.st_mtim.tv_sec > k_foreign_age_seconds;
}

// For a folder of a shared store: whether its process is known to have ended, or it has not changed for a day. Empty
// for any other name.
std::optional<bool> is_shared_leftover(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const auto parts = split(name, '-');
  if (parts.size() != 4) return std::nullopt;
  const auto pid = to_number(parts[0]);
  if (!pid || !to_number(parts[1]) || !to_number(parts[2])) return std::nullopt;
  if (parts[3] == machine_name()) return sys::process_start(*pid) != parts[1];
  return is_old(path);
}

bool is_leftover(const std::filesystem::path& path) {
  if (const auto answer = is_shared_leftover(path)) return *answer;
  try {
    if (!owner(path)) return is_old(path);
    return take_from_dead(path).has_value();
  } catch (const Error&) {
    // No lock is possible on a read-only disk; the PID alone decides.
    const auto process = owner(path);
    return process && sys::process_start(process->first) != process->second;
  }
}

}  // namespace

Scratch::~Scratch() {
  if (m_folder.empty()) return;
  try {
    sys::remove_tree(m_folder);
  } catch (const Error&) {
    // It remains as a leftover, which verify reports.
  }
}

bool Scratch::make(const std::filesystem::path& folder) {
  if (::mkdir(folder.c_str(), 0777) != 0) {
    if (errno == EEXIST) return false;
    throw std::system_error(errno, std::generic_category());
  }
  if (!m_shared) m_alive.emplace(folder / k_alive);
  return true;
}

const std::filesystem::path& Scratch::folder() {
  const std::lock_guard guard(m_mutex);
  // Other machines remove folders that have not changed for a day.
  if (!m_folder.empty() && (!m_shared || std::filesystem::exists(m_folder))) return m_folder;
  std::filesystem::create_directories(m_parent);
  const auto pid = static_cast<std::uint64_t>(::getpid());
  const std::string start = sys::process_start(pid);
  for (unsigned number = 0;; ++number) {
    const std::filesystem::path folder = m_parent / fmt::format("{}-{}-{}{}", pid, start.empty() ? "0" : start, number,
                                                                m_shared ? "-" + machine_name() : std::string());
    if (!make(folder)) continue;
    m_folder = folder;
    break;
  }
  // Creating a scratch folder also removes leftovers of dead processes: the environment of a killed test takes
  // megabytes.
  for (const std::filesystem::path& path : leftovers(m_parent)) remove_leftover(path);
  return m_folder;
}

std::filesystem::path Scratch::next(std::string_view name) { return folder() / fmt::format("{}-{}", name, m_count++); }

std::vector<std::filesystem::path> leftovers(const std::filesystem::path& parent) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end; at.increment(error))
    if (is_leftover(at->path())) found.push_back(at->path());
  std::sort(found.begin(), found.end());
  return found;
}

bool remove_leftover(const std::filesystem::path& path) {
  try {
    std::optional<sys::FileLock> held;
    if (const auto answer = is_shared_leftover(path)) {
      if (!*answer) return false;
    } else if (owner(path)) {
      held = take_from_dead(path);
      if (!held) return false;
    } else if (!is_old(path)) {
      return false;
    }
    sys::remove_tree(path);
    return true;
  } catch (const Error&) {  // another user's, or a read-only disk: it stays, and verify reports it
    return false;
  }
}

}  // namespace wheelsmith::store
