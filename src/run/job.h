#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "document/value.h"
#include "plan/step/spec.h"
#include "run/outcome.h"

namespace wheelsmith::run {

// A finished wheel of another step that this one needs.
struct NeededWheel {
  std::string project, version;
  Artifact wheel;
  bool direct = true;  // false: only another one that is needed needs it
};

// How many compilers may run at once, and in how much memory.
struct JobLimits {
  unsigned jobs = 1;         // where nothing governs compilers
  bool governed = true;      // compilers are admitted by memory and cores
  unsigned most_jobs = 0;    // what the user allows; 0: the governor decides
  unsigned cores = 0;        // that the step may use of its machine; 0: all that it sees
  std::uint64_t memory = 0;  // likewise
  double silence_seconds = 0;
};

// --sandbox and --sandbox-open.
struct SandboxOptions {
  std::string mode = "auto";
  std::vector<std::filesystem::path> open;  // what the user shows to foreign code, read only
};

// What a step process is given: the specification, the wheels it needs, and where things are.
struct Job {
  plan::BuildSpec spec;
  std::string reason;  // why it is built
  std::filesystem::path store, log;
  std::vector<NeededWheel> needs;
  std::map<std::string, std::string> mirrors;
  cache::CacheOptions cache;
  JobLimits limits;
  SandboxOptions sandbox;
  bool clean = false, offline = false;
  bool no_test = false;               // --no-test: the wheel is delivered, but no later build takes it from the store
  std::filesystem::path keep_failed;  // --keep-failed: the folder for a wheel that a check or a test refuses
  // A cluster's job without a GPU: the finished step is written to this file instead of into the store. Another job of
  // the same step, with a GPU, runs its tests on the wheel and publishes it.
  std::filesystem::path held;
  bool test_held = false;  // this is the other one
  // A rebuild of a wheel that exists, with exactly these wheels in its environment: nothing is taken from the store by
  // key or put there, and neither checks nor tests decide anything.
  std::optional<env::Lock> rebuild;

  [[nodiscard]] document::Value to_value() const;
  static Job from_value(const document::Value& value);  // throws Error
};

}  // namespace wheelsmith::run
