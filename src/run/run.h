#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "fetch/fetch.h"
#include "plan/plan.h"
#include "run/events.h"
#include "run/executor.h"
#include "run/job.h"
#include "run/outcome.h"
#include "store/store.h"

// Runs a plan. Every step is a separate process (`wheelsmith step JOB.json`) that an Executor starts; the Scheduler
// picks the next one; the coordinator connects both with the store and the wheelhouse.

namespace wheelsmith::run {

struct RunOptions {
  std::filesystem::path out;  // wheelhouse
  bool keep_going = false;
  bool clean = false;
  bool no_test = false;
  bool keep_failed = false;  // wheels that fail a check or a test go to failed/ in `out`
  bool offline = false;
  bool exact = false;  // no early cut-off: a step is rebuilt with every other wheel that it needs
  std::map<std::string, std::string> mirrors;
  cache::CacheOptions cache;  // of compiles
  bool gpu_parts = false;     // compile GPU sources in parts
  SandboxOptions sandbox;
  double silence_seconds = 0;        // stop a build that prints nothing for this long; 0: never
  unsigned jobs = 0;                 // maximum compilers per step; 0: limited by cores and memory
  std::uint64_t memory = 0;          // maximum for all compilers of a step; 0: all memory
  unsigned most_losses = 0;          // how often to retry a step whose process or machine died
  std::optional<env::Lock> rebuild;  // only for plans with one step; see Job
  document::Table about;             // for the build's record in the store: the command, and where it runs
  std::function<void(const Event&)> on_event = [](const Event&) {};
  std::function<void(const std::string&)> on_message = [](const std::string&) {};  // about the build as a whole
};

// In the plan's order. On interrupt, running steps are stopped and the rest are skipped. Steps that outlive
// the coordinator keep running, unless a second interrupt follows within k_second_chance seconds.
inline constexpr double k_second_chance = 5;
std::vector<StepOutcome> run_plan(const plan::Plan& plan, store::Store& store, Executor& executor,
                                  const RunOptions& options);

}  // namespace wheelsmith::run
