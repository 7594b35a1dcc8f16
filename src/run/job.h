#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "document/value.h"
#include "governor/cache/cache.h"
#include "plan/plan.h"

namespace wheelsmith::run {

// A finished wheel of another step that this one needs.
struct NeededWheel {
  std::string project, version;
  std::filesystem::path wheel;
  bool direct = true;  // false: only another one that is needed needs it

  [[nodiscard]] std::string requirement() const;  // of exactly this file, whatever an index has of that version
};

// The variable that brings a step the address of the remote storage, which may hold a password.
inline constexpr const char* k_cache_remote_variable = "_WHEELSMITH_CACHE_REMOTE";

// What a step process is given: the step, and where things are on this machine.
struct Job {
  plan::Step step;
  std::filesystem::path store, out, log;
  std::vector<NeededWheel> needs;
  std::map<std::string, std::string> mirrors;
  unsigned jobs = 1;
  governor::CacheOptions cache;  // its remote storage comes by the environment: a job's file may be read by others
  bool governed = true;
  unsigned most_jobs = 0;    // what the user allows; 0: the governor decides
  std::uint64_t memory = 0;  // the same of memory
  double silence_seconds = 0;
  bool clean = false, offline = false;

  [[nodiscard]] document::Value to_value() const;
  static Job from_value(const document::Value& value);
};

}  // namespace wheelsmith::run
