#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "governor/model/admission.h"

// The memory pools a process uses: the machine, and each parent cgroup with a limit.

namespace wheelsmith::governor {

inline const std::string k_machine = "machine";

// A process's cgroups as the kernel lists them. `root` is "/" except in tests.
std::string cgroups_of(pid_t pid, const std::filesystem::path& root = "/");
// The names of all pools that such a process uses, `k_machine` first.
std::vector<std::string> pools_in(const std::string& cgroups, const std::filesystem::path& root = "/");

struct PoolReading {
  Pool pool;
  std::uint64_t kills = 0;  // processes that the kernel killed in it for lack of memory
};
// A removed cgroup has no limit.
PoolReading read_pool(const std::string& name, const std::filesystem::path& root = "/");

// Whether processes are stalled on memory: the share of time in which all runnable ones were. The kernel counts
// microseconds; two samples make a share.
class Pressure {
 public:
  explicit Pressure(std::filesystem::path root = "/") : m_root(std::move(root)) {}
  // True while that is more than a fifth of the time. Samples at most twice a second.
  bool look(double now);

 private:
  std::filesystem::path m_root;
  double m_looked_at = -1;
  std::uint64_t m_total = 0;
  bool m_pressed = false;
};

}  // namespace wheelsmith::governor
