#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "document/value.h"
#include "fetch/fetch.h"
#include "governor/cache/cache.h"
#include "governor/record.h"
#include "plan/plan.h"
#include "store/store.h"

// From a plan to outcomes. Every step runs in a process of its own (`wheelsmith step JOB.json`), which reports by lines
// of JSON on its standard output and writes its own log; the runner starts steps as soon as what they need is there,
// the longest chain first.

namespace wheelsmith::run {

struct TestOutcome {
  std::string id;
  std::string outcome;  // "pass", "fail", "not-run"
  std::string why;
};

// The first command that failed in a build's log, not the last one printed.
struct FirstFailure {
  std::string command;  // as the tool printed it; "" when no command could be told
  std::string folder;   // where it ran, as far as known
  std::string output;   // its own output, bounded
  std::uint64_t line = 0;
  std::string product{};  // ninja: the first file that it should have made
};

// What remedies may say of this machine, and what is known of nvcc.
diagnose::Machine machine_for_remedies();

struct StepOutcome {
  std::string id, package, key;
  std::string outcome;  // "built", "cached", "failed", "skipped"
  std::filesystem::path wheel;
  std::filesystem::path log;
  double seconds = 0;
  std::string cause;  // of a failure: what went wrong, in one sentence
  std::string phase;  // where it failed
  std::optional<FirstFailure> failure;
  std::optional<diagnose::Cause> diagnosis;  // what the step's log says of it, and what mends it
  std::filesystem::path repeat_script;
  std::vector<TestOutcome> tests;
  std::vector<Finding> findings;
  std::string reason;
  governor::CacheCounts cache;  // what the compile cache did
  bool replaced = false;        // another wheel of that name was in the wheelhouse
  bool optional = false;        // what needs it does without it: its failure is no failure of the whole

  [[nodiscard]] document::Value to_value() const;
  static StepOutcome from_value(const document::Value& value);
};

// What happens, as it happens; for status lines and plain lines.
struct Event {
  enum class Kind { started, phase, progress, note, output, memory, finished } kind = Kind::note;
  std::string step;
  std::string text;  // phase: "build"; note, output, memory: the text
  std::uint64_t done = 0, total = 0;
  const StepOutcome* outcome = nullptr;  // finished
};

struct RunOptions {
  std::filesystem::path out;  // wheelhouse
  bool keep_going = false;
  bool clean = false;
  bool install = false;
  std::filesystem::path install_into;  // interpreter or environment; empty: the step's own interpreter
  unsigned steps_at_once = 1;
  unsigned jobs = 0;             // 0: as cores and memory allow
  governor::CacheOptions cache;  // for compiles; without a program there is none
  bool governed = true;          // compilers are admitted by memory and cores
  std::uint64_t memory = 0;      // the most for all compilers of a step; 0: as much as there is
  double silence_seconds = 0;    // a build that prints nothing for so long is stopped; 0: never
  bool offline = false;
  fetch::FetchOptions fetch;
  std::function<void(const Event&)> on_event = [](const Event&) {};
};

// In the plan's order. Interrupted: what runs is stopped, the rest is "skipped".
std::vector<StepOutcome> run_plan(const plan::Plan& plan, store::Store& store, const RunOptions& options);

// What the step process does. Returns its exit status; events go to standard output.
int run_step(const std::filesystem::path& job_file);

// The tests of a wheel again, on this machine: those in its dist-info, in a fresh environment of `python`.
struct WheelTest {
  std::string path;
  std::string error;
  std::vector<TestOutcome> tests;
  std::vector<Finding> findings;  // compiled architectures against the devices that are here
  [[nodiscard]] bool good() const;
};
WheelTest test_wheel(const std::filesystem::path& wheel, const toolchain::Python& python, store::Store& store,
                     fetch::Fetcher& fetcher, const toolchain::Host& where, bool offline);

// Reads a log as it grows and knows ninja's and CMake's blocks and the command lines of distutils and make.
class FailureFinder {
 public:
  void feed(std::string_view text);
  [[nodiscard]] std::optional<FirstFailure> first() const;

 private:
  struct State;
  std::shared_ptr<State> m_state;
};

}  // namespace wheelsmith::run
