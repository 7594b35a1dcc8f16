#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

// Who descends from whom. Only src/sys includes this.

namespace wheelsmith::sys {

// A process for all time: its number may be given to another one, but not with the same start.
struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start = 0;  // clock ticks since boot
  friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

struct ProcessStat {
  ProcessId id;
  pid_t parent = 0;
  char state = '?';
  [[nodiscard]] bool dead() const { return state == 'Z' || state == 'X'; }
};

// A line of /proc/PID/stat, or nothing if it is none.
std::optional<ProcessStat> parse_stat(std::string_view line);

// All that descend from `root` at this moment, without it.
std::vector<ProcessStat> descendants_of(pid_t root);

// Sends the signal to those that are still the ones they were.
void signal_all(const std::set<ProcessId>& processes, int signal);

}  // namespace wheelsmith::sys
