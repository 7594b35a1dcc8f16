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

// From a plan to outcomes. Every step is a process of its own (`wheelsmith step JOB.json`) that an Executor starts;
// the Scheduler says which one is next; the coordinator here connects the two with the store and the wheelhouse.

namespace wheelsmith::run {

struct RunOptions {
  std::filesystem::path out;  // wheelhouse
  bool keep_going = false;
  bool clean = false;
  bool no_test = false;
  bool keep_failed = false;  // wheels that a check or a test refuses go to failed/ of `out`
  bool offline = false;
  std::map<std::string, std::string> mirrors;
  cache::CacheOptions cache;  // of compiles
  SandboxOptions sandbox;
  double silence_seconds = 0;        // a build that prints nothing for so long is stopped; 0: never
  unsigned jobs = 0;                 // the most compilers of a step; 0: as cores and memory allow
  std::uint64_t memory = 0;          // the most for all compilers of a step; 0: as much as there is
  unsigned most_losses = 0;          // how often a step whose process or machine died is started again
  std::optional<env::Lock> rebuild;  // of a plan of one step: see Job
  document::Table about;             // for the build's record in the store: what was asked for, and where it runs
  std::function<void(const Event&)> on_event = [](const Event&) {};
  std::function<void(const std::string&)> on_message = [](const std::string&) {};  // about the build as a whole
};

// In the plan's order. Interrupted: what runs is stopped, the rest is skipped. Where steps outlive us, they are left
// running, and a second interruption within k_second_chance seconds stops them.
inline constexpr double k_second_chance = 5;
std::vector<StepOutcome> run_plan(const plan::Plan& plan, store::Store& store, Executor& executor,
                                  const RunOptions& options);

}  // namespace wheelsmith::run
