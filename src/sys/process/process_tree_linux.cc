#include "sys/process/process_tree_linux.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/io/fd.h"
#include "sys/process/process.h"

// A shell would kill the process group, but a program leaves it with one call (setsid), and compile servers do. It
// cannot leave its line of ancestors: each process has a parent in /proc/PID/stat, and when a parent dies its children
// go to the nearest subreaper above. Walking these links finds every descendant; since more may start during the walk,
// killing repeats it until a walk finds none.

namespace wheelsmith::sys {

namespace {

std::string read_proc_file(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return {};
  std::array<char, 1024> text{};
  const ssize_t size = ::read(fd.raw(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

std::optional<ProcessStat> stat_of(std::string_view pid) {
  return parse_stat(read_proc_file("/proc/" + std::string(pid) + "/stat"));
}

std::vector<ProcessStat> all_processes() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (folder == nullptr) throw_sys_error(errno, "read", "/proc");
  std::vector<ProcessStat> result;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (!to_number(entry->d_name)) continue;
    if (const std::optional<ProcessStat> stat = stat_of(entry->d_name)) result.push_back(*stat);
  }
  return result;
}

void reap_children() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {}
}

}  // namespace

// "4321 (name) S 1 4321 4321 0 …": the name may contain blanks and brackets, so fields count from the last ')'.
std::optional<ProcessStat> parse_stat(std::string_view line) {
  constexpr std::size_t k_state = 0;
  constexpr std::size_t k_parent = 1;
  constexpr std::size_t k_start = 19;
  const std::size_t close = line.rfind(')');
  const std::size_t open = line.find(' ');
  if (close == std::string_view::npos || open > close || close + 2 > line.size()) return std::nullopt;
  const std::vector<std::string_view> fields = split(trim(line.substr(close + 2)), ' ');
  if (fields.size() <= k_start || fields[k_state].size() != 1) return std::nullopt;
  const std::optional<std::uint64_t> pid = to_number(line.substr(0, open));
  const std::optional<std::uint64_t> parent = to_number(fields[k_parent]);
  const std::optional<std::uint64_t> start = to_number(fields[k_start]);
  if (!pid || !parent || !start || *pid > INT32_MAX || *parent > INT32_MAX) return std::nullopt;
  return ProcessStat{{static_cast<pid_t>(*pid), *start}, static_cast<pid_t>(*parent), fields[k_state].front()};
}

std::vector<ProcessStat> descendants_of(pid_t root) {
  std::multimap<pid_t, ProcessStat> children;
  for (const ProcessStat& process : all_processes()) children.emplace(process.parent, process);
  std::vector<ProcessStat> result;
  std::set<pid_t> seen{root};
  std::vector<pid_t> parents{root};
  while (!parents.empty()) {
    const auto [first, last] = children.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      // The files were read one after another: a PID reused meanwhile could create a cycle.
      if (!seen.insert(child->second.id.pid).second) continue;
      result.push_back(child->second);
      parents.push_back(child->second.id.pid);
    }
  }
  return result;
}

void signal_all(const std::set<ProcessId>& processes, int signal) {
  for (const ProcessId& id : processes) {
    const std::optional<ProcessStat> now = stat_of(std::to_string(id.pid));
    if (now && now->id == id && !now->dead()) ::kill(id.pid, signal);
  }
}

void become_subreaper(bool die_with_parent) {
  const pid_t parent = ::getppid();
  // Every kernel since 3.4 supports this. qemu's user mode rejects it with EINVAL; there, an orphan outlives the step.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 && errno != EINVAL)
    throw Error(fmt::format("cannot adopt orphaned processes: {}", std::generic_category().message(errno)));
  if (!die_with_parent) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  // The parent may have exited before the call took effect.
  if (::getppid() != parent) ::raise(SIGTERM);
}

void kill_descendants() {
  using namespace std::chrono_literals;
  // A process that hangs in the kernel (a dead network disk, a GPU driver) cannot be killed; do not wait for it.
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  for (auto pause = 1ms; std::chrono::steady_clock::now() < deadline; pause = std::min(pause * 2, 50ms)) {
    reap_children();
    const std::vector<ProcessStat> left = descendants_of(::getpid());
    if (left.empty()) return;
    for (const ProcessStat& process : left) {
      if (!process.dead()) ::kill(process.id.pid, SIGKILL);
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace wheelsmith::sys
