#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

// The process tree. Only src/sys includes this.

namespace wheelsmith::sys {

// A unique process identity: PIDs are reused, but not with the same start time.
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

// Parses a line of /proc/PID/stat; nothing if malformed.
std::optional<ProcessStat> parse_stat(std::string_view line);

// All current descendants of `root`, without it.
std::vector<ProcessStat> descendants_of(pid_t root);

// Signals those processes that still have the same identity.
void signal_all(const std::set<ProcessId>& processes, int signal);

}  // namespace wheelsmith::sys
