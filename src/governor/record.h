#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "document/value.h"

// A build's record: lines of JSON (docs/governor.md), appended by the governor as things happen and by a shim that
// finds no governor.

namespace wheelsmith::governor {

// How an attempt to compile ended.
enum class Outcome : std::uint8_t {
  done,
  failed,
  out_of_memory,  // retried
  set_back,       // preempted: killed by the governor and requeued
  lost,           // its shim exited without a report
};

// Its result in the compile cache.
enum class CacheUse : std::uint8_t {
  none,  // no cache
  hit,
  miss,
  pass,  // uncacheable
};

// Where the object of a successful compile came from.
enum class Origin : std::uint8_t {
  unknown,
  compiled,
  cache,
  remote_cache,  // the storage that several machines share
  parts,         // some of its parts came from the cache, the others were compiled
  tree,          // an earlier attempt in the same tree
};
Origin origin_of(CacheUse use, bool remote, std::uint64_t part_hits);
// The same of a line of a record, also of versions that did not write it.
Origin origin_of(const document::Value& line);

// Appends one line; false when it cannot be written.
bool append_record(const std::filesystem::path& file, const document::Table& line);

// "12 s", "3.4 min", "2.5 h".
std::string seconds_text(double seconds);

// Compile cache counts.
struct CacheCounts {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t uncacheable = 0;  // compiles that cannot be cached
  std::uint64_t remote_hits = 0;  // included in hits
  std::uint64_t errors = 0;       // failed requests to the remote storage
  double saved_seconds = 0;       // CPU time of the compiles that the cache replaced, if known

  [[nodiscard]] bool any() const { return hits + misses + uncacheable != 0; }
  [[nodiscard]] document::Value to_value() const;
  static CacheCounts from_value(const document::Value& value);
  [[nodiscard]] std::string to_text() const;
};

// Summary of a record.
struct Summary {
  std::uint64_t compiles = 0, failed = 0, tried_again = 0, set_back = 0, elsewhere = 0, node_failures = 0, paused = 0,
                ungoverned = 0;
  std::uint64_t unreported = 0;  // compiles, links excluded, whose inputs the compile cache does not know
  std::uint64_t largest = 0;     // peak of one compile
  std::string largest_name;
  std::uint64_t most_used = 0;  // peak of all compiles of the build together
  std::uint64_t limit = 0;      // of the tightest pool
  double waited_for_memory = 0, waited_for_cores = 0, compile_seconds = 0;
  std::vector<std::string> unreached;  // compilers that ran without a shim
  CacheCounts cache{};
  std::array<std::uint64_t, 6> origins{};  // of compiles, by Origin
  std::string cache_problem;               // why the build had no compile cache although one was requested

  [[nodiscard]] document::Value to_value() const;
  // A short text for users.
  [[nodiscard]] std::string to_text() const;
};
// The document of `run --json` (docs/json.md).
document::Value run_value(const Summary& summary, const std::filesystem::path& record, int exit);
Summary summarize(const std::filesystem::path& record);

// Lines for the compiles of earlier attempts in the same tree, oldest first, that `record` did not repeat.
std::vector<document::Table> kept_lines(const std::filesystem::path& record,
                                        const std::vector<std::filesystem::path>& earlier);

}  // namespace wheelsmith::governor

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::Outcome> {
  static constexpr std::array list = {"done", "failed", "out-of-memory", "set-back", "lost"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::Origin> {
  static constexpr std::array list = {"", "compiled", "cache", "remote-cache", "parts", "tree"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::CacheUse> {
  static constexpr std::array list = {"", "hit", "miss", "pass"};
};
