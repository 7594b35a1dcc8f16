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

// Appends one line; false when it cannot be written.
bool append_record(const std::filesystem::path& file, const document::Table& line);

// Compile cache counts.
struct CacheCounts {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t uncacheable = 0;  // compiles that cannot be cached
  std::uint64_t remote_hits = 0;  // included in hits
  std::uint64_t errors = 0;       // failed requests to the remote storage

  [[nodiscard]] bool any() const { return hits + misses + uncacheable != 0; }
  [[nodiscard]] document::Value to_value() const;
  static CacheCounts from_value(const document::Value& value);
  [[nodiscard]] std::string to_text() const;
};

// Summary of a record.
struct Summary {
  std::uint64_t compiles = 0, failed = 0, tried_again = 0, set_back = 0, elsewhere = 0, node_failures = 0, paused = 0,
                ungoverned = 0;
  std::uint64_t largest = 0;  // peak of one compile
  std::string largest_name;
  std::uint64_t most_used = 0;  // peak of all compiles of the build together
  std::uint64_t limit = 0;      // of the tightest pool
  double waited_for_memory = 0, waited_for_cores = 0, compile_seconds = 0;
  std::vector<std::string> unreached;  // compilers that ran without a shim
  CacheCounts cache{};
  std::string cache_problem;  // why the build had no compile cache although one was requested

  [[nodiscard]] document::Value to_value() const;
  // A short text for users.
  [[nodiscard]] std::string to_text() const;
};
// The document of `run --json` (docs/json.md).
std::string run_json(const Summary& summary, const std::filesystem::path& record, int exit);
Summary summarize(const std::filesystem::path& record);

}  // namespace wheelsmith::governor

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::Outcome> {
  static constexpr std::array list = {"done", "failed", "out-of-memory", "set-back", "lost"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::governor::CacheUse> {
  static constexpr std::array list = {"", "hit", "miss", "pass"};
};
