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

// How a try of a compile ended.
enum class Outcome : std::uint8_t {
  done,
  failed,
  out_of_memory,  // and is tried again
  set_back,       // by the governor, and is tried again
  lost,           // its shim ended without reporting
};

// What the compile cache did for it.
enum class CacheUse : std::uint8_t {
  none,  // there is none
  hit,
  miss,
  pass,  // it cannot be cached
};

// One line; false when it cannot be written.
bool append_record(const std::filesystem::path& file, const document::Table& line);

// What the compile cache did.
struct CacheCounts {
  std::uint64_t hits = 0, misses = 0;
  std::uint64_t uncacheable = 0;  // they cannot be cached
  std::uint64_t remote_hits = 0;  // of the hits
  std::uint64_t errors = 0;       // the remote storage did not answer

  [[nodiscard]] bool any() const { return hits + misses + uncacheable != 0; }
  [[nodiscard]] document::Value to_value() const;
  static CacheCounts from_value(const document::Value& value);
  [[nodiscard]] std::string to_text() const;
};

// What a record says as a whole.
struct Summary {
  std::uint64_t compiles = 0, failed = 0, tried_again = 0, set_back = 0, paused = 0, ungoverned = 0;
  std::uint64_t largest = 0;  // peak of one compile
  std::string largest_name;
  std::uint64_t most_used = 0;  // by all compiles of the build at one moment
  std::uint64_t limit = 0;      // of the tightest pool
  double waited_for_memory = 0, waited_for_cores = 0, compile_seconds = 0;
  std::vector<std::string> unreached;  // compilers that came through without a shim
  CacheCounts cache{};
  std::string cache_problem;  // why the build had no compile cache although one was asked for

  [[nodiscard]] document::Value to_value() const;
  // A few words for people.
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
