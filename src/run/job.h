#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "document/value.h"
#include "governor/cache/cache.h"
#include "plan/step/spec.h"
#include "run/outcome.h"

namespace wheelsmith::run {

// A finished wheel of another step that this one needs.
struct NeededWheel {
  std::string project, version;
  Artifact wheel;
  bool direct = true;  // false: only another one that is needed needs it
};

// The variable that brings a step the address of the remote storage, which may hold a password.
inline constexpr const char* k_cache_remote_variable = "_WHEELSMITH_CACHE_REMOTE";

// How many compilers may run at once, and in how much memory.
struct JobLimits {
  unsigned jobs = 1;         // where nothing governs compilers
  bool governed = true;      // compilers are admitted by memory and cores
  unsigned most_jobs = 0;    // what the user allows; 0: the governor decides
  std::uint64_t memory = 0;  // likewise
  double silence_seconds = 0;
};

// What a step process is given: the specification, the wheels it needs, and where things are.
struct Job {
  plan::BuildSpec spec;
  std::string reason;  // why it is built
  std::filesystem::path store, log;
  std::vector<NeededWheel> needs;
  std::map<std::string, std::string> mirrors;
  governor::CacheOptions cache;  // its remote storage comes by the environment: a job's file may be read by others
  JobLimits limits;
  bool clean = false, offline = false;

  [[nodiscard]] document::Value to_value() const;
  static Job from_value(const document::Value& value);  // throws Error
};

}  // namespace wheelsmith::run
