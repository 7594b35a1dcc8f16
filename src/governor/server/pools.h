#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "governor/model/admission.h"

// The pools of memory that a process takes from: the machine, and each cgroup above it that has a limit.

namespace wheelsmith::governor {

inline const std::string k_machine = "machine";

// A process' cgroups as the kernel lists them. `root` is "/" but in tests.
std::string cgroups_of(pid_t pid, const std::filesystem::path& root = "/");
// The names of all pools that such a process takes from, `k_machine` first.
std::vector<std::string> pools_in(const std::string& cgroups, const std::filesystem::path& root = "/");

struct PoolReading {
  Pool pool;
  std::uint64_t kills = 0;  // processes that the kernel has ended for lack of memory in it
};
// A cgroup that is gone has no limit.
PoolReading read_pool(const std::string& name, const std::filesystem::path& root = "/");

// Whether processes wait for memory: the share of time in which all that could run stood still for it. The kernel
// counts microseconds; two looks make a share.
class Pressure {
 public:
  explicit Pressure(std::filesystem::path root = "/") : m_root(std::move(root)) {}
  // True while more than a fifth of the time goes into it. Looks at most twice a second.
  bool look(double now);

 private:
  std::filesystem::path m_root;
  double m_looked_at = -1;
  std::uint64_t m_total = 0;
  bool m_pressed = false;
};

}  // namespace wheelsmith::governor
