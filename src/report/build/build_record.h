#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The governor's record of a build (docs/governor.md) as values.

namespace wheelsmith::report {

// One attempt of one compile.
struct Compile {
  double start = 0;    // seconds since 1970
  double seconds = 0;  // from admission to the end, including pauses
  double wait = 0;     // before admission
  double paused = 0;
  std::string why;  // reason for the wait: "cores", "jobs", "memory", "pressure", "alone", ""
  std::string kind, name, output, unit, family;
  std::string outcome;        // "done", "failed", "out-of-memory", "set-back", "lost"
  std::string from;           // source of the estimate
  std::string cache;          // "hit", "miss", ""
  std::string origin;         // "compiled", "cache", "remote-cache", "parts", "tree", "" for a failed one
  double cpu = 0, saved = 0;  // CPU time that it took; that hits saved; 0: unknown
  std::uint64_t peak = 0, reserved = 0, estimate = 0;
  unsigned threads = 1, tries = 0, slot = 0;
  int exit = 0;
  bool again = false;                 // another attempt follows
  std::string part;                   // what this is of a compile in parts ("cicc compute_90"); "": it is whole
  unsigned parts = 0, part_hits = 0;  // of a compile in parts: how many commands, and how many came from the cache
  bool early = false;                 // started before there was room for its peak, so a pause is expected

  [[nodiscard]] double end() const { return start + seconds; }
};

struct MemorySample {
  double at = 0;
  std::uint64_t used = 0, reserved = 0, available = 0;
  std::uint64_t limit = 0;  // 0: unknown
  unsigned running = 0, waiting = 0, paused = 0;
};

// Compile cache counters of this build.
struct CacheCounts {
  std::uint64_t hits = 0, misses = 0, uncacheable = 0, remote_hits = 0, errors = 0;
  double saved_seconds = 0;  // CPU time
};

// An event at a point in time: a compiler without a shim, a compile without a governor, a pause.
struct Moment {
  double at = 0, seconds = 0;
  std::string name, why;
};

struct BuildRecord {
  std::string name, id;
  std::string node;                               // of a cluster
  std::uint64_t cores = 0, jobs = 0, memory = 0;  // 0: no limit
  double started = 0, ended = 0;                  // of all events; 0 if there are none
  std::optional<int> exit;
  std::vector<Compile> compiles;  // whole compiles and parts of others, by start
  std::vector<Compile> in_parts;  // these others
  std::vector<Compile> kept;      // of earlier attempts in the same tree, not repeated; without a start
  std::vector<MemorySample> samples;
  std::vector<Moment> unreached, ungoverned, pauses;
  std::optional<CacheCounts> cache;
  unsigned slots = 0;               // maximum number of concurrent compiles
  std::uint64_t skipped_lines = 0;  // lines that could not be parsed
};

// Parses lines of JSON in any order, possibly with a partial line at the end. Never throws: invalid lines are counted.
BuildRecord read_record(std::string_view text);

// Assigns each compile to the lowest slot that is free when it starts; sorts by start. Returns the number of slots.
unsigned assign_slots(std::vector<Compile>& compiles);

// The memory of all builds together, at the times of all samples. A sample of a build is valid until its next one, but
// at most for a few seconds. Available memory and limit are the latest values.
std::vector<MemorySample> merged_memory(std::span<const BuildRecord> records);

}  // namespace wheelsmith::report
