#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "document/value.h"
#include "governor/model/node_rooms.h"
#include "plan/step/spec.h"
#include "run/outcome.h"
#include "store/store.h"

namespace wheelsmith::run {

// A finished wheel of another step that this step depends on.
struct NeededWheel {
  std::string project, version;
  Artifact wheel;
  bool direct = true;  // false: an indirect dependency
};

// How many compilers may run at once, and how much memory they may use.
struct JobLimits {
  unsigned jobs = 1;         // used without the governor
  bool governed = true;      // the governor admits compilers by memory and cores
  bool parts = false;        // GPU sources are compiled in parts
  unsigned most_jobs = 0;    // the user's limit; 0: the governor decides
  unsigned cores = 0;        // of the machine that the step may use; 0: all
  std::uint64_t memory = 0;  // the user's limit; 0: the governor decides
  double silence_seconds = 0;
  std::vector<governor::NodeRoom> nodes{};  // that compiles may be sent to, besides the one that the step runs on
};

// --sandbox and --sandbox-open.
struct SandboxOptions {
  std::string mode = "auto";
  std::vector<std::filesystem::path> open;  // paths that foreign code may read
};

// Input of a step process: the specification, its dependencies, and paths.
struct Job {
  plan::BuildSpec spec;
  std::string reason;  // why the step is built
  std::filesystem::path store, log;
  // The store's options. If scratch is empty, the machine that runs the step chooses it.
  std::filesystem::path scratch;
  unsigned claim_timeout = 120;  // seconds
  std::vector<NeededWheel> needs;
  std::map<std::string, std::string> mirrors;
  cache::CacheOptions cache;
  JobLimits limits;
  SandboxOptions sandbox;
  bool clean = false, offline = false;
  bool no_test = false;               // --no-test: the wheel is delivered, but later builds do not reuse it
  std::filesystem::path keep_failed;  // --keep-failed: the folder for wheels that fail a check or a test
  // A cluster's job without a GPU: the finished step is written to this file instead of into the store. A second job of
  // the step, with a GPU, runs the tests on the wheel and publishes it.
  std::filesystem::path held;
  bool test_held = false;  // this is the second job
  // Rebuilds an existing wheel with exactly these wheels in its environment: nothing is read from or written to the
  // store by key, and checks and tests do not affect the outcome.
  std::optional<env::Lock> rebuild;

  [[nodiscard]] store::StoreOptions store_options() const;
  [[nodiscard]] document::Value to_value() const;
  static Job from_value(const document::Value& value);  // throws Error
};

}  // namespace wheelsmith::run
