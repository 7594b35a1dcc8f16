#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The governor's record of a build (docs/governor.md) as values, for whoever shows it.

namespace wheelsmith::report {

// One try of one compile.
struct Compile {
  double start = 0;    // seconds since 1970
  double seconds = 0;  // from the grant to the end, pauses included
  double wait = 0;     // before the grant
  double paused = 0;
  std::string why;  // it waited: "cores", "jobs", "memory", "pressure", "alone", ""
  std::string kind, name, output, unit, family;
  std::string outcome;  // "done", "failed", "out-of-memory", "set-back", "lost"
  std::string from;     // where the estimate came from
  std::string cache;    // "hit", "miss", ""
  std::uint64_t peak = 0, reserved = 0, estimate = 0;
  unsigned threads = 1, tries = 0, slot = 0;
  int exit = 0;
  bool again = false;  // another try follows
  bool early = false;  // started before there was room for its peak: a pause was to be expected

  [[nodiscard]] double end() const { return start + seconds; }
};

struct MemorySample {
  double at = 0;
  std::uint64_t used = 0, reserved = 0, available = 0;
  std::uint64_t limit = 0;  // 0: not known
  unsigned running = 0, waiting = 0, paused = 0;
};

// What a compiler cache did for this build.
struct CacheCounts {
  std::uint64_t hits = 0, misses = 0, uncacheable = 0, remote_hits = 0, errors = 0;
};

// Something at a moment: a compiler that no shim stood before, a compile without a governor, a pause.
struct Moment {
  double at = 0, seconds = 0;
  std::string name, why;
};

struct BuildRecord {
  std::string name, id;
  std::string node;  // of a cluster, where it ran
  std::uint64_t cores = 0, jobs = 0, memory = 0;  // 0: no bound of its own
  double started = 0, ended = 0;                  // of all that is in it; 0 when there is nothing
  std::optional<int> exit;
  std::vector<Compile> compiles;  // by start
  std::vector<MemorySample> samples;
  std::vector<Moment> unreached, ungoverned, pauses;
  std::optional<CacheCounts> cache;
  unsigned slots = 0;               // compiles at one time
  std::uint64_t skipped_lines = 0;  // that say nothing that could be understood
};

// Lines of JSON, in any order, perhaps with half a line at the end. Never throws: what cannot be read is counted.
BuildRecord read_record(std::string_view text);

// Puts each compile on the lowest slot that is free when it starts; sorts by start. Returns the number of slots.
unsigned assign_slots(std::vector<Compile>& compiles);

// What all builds use together, at the times of all samples: a build's last sample holds until its next one, not
// longer than a few seconds. Available memory and the limit are the latest ones.
std::vector<MemorySample> merged_memory(std::span<const BuildRecord> records);

}  // namespace wheelsmith::report
