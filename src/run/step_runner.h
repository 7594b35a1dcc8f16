#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "governor/governor.h"
#include "run/cache_relay.h"
#include "run/job.h"
#include "run/run.h"
#include "wheel/read/inspect.h"

namespace wheelsmith::run {

// The log of a step: everything the tools print and a line for each phase of ours.
class Log {
 public:
  explicit Log(const std::filesystem::path& path);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  void write(std::string_view text);
  void line(std::string_view text);

 private:
  int m_fd = -1;
};

// A command that did not end well; what is known of it travels with the error.
class CommandFailed : public Error {
 public:
  CommandFailed(const std::string& what, std::optional<FirstFailure> first, sys::Command command)
      : Error(what), failure(std::move(first)), command_run(std::move(command)) {}
  std::optional<FirstFailure> failure;
  sys::Command command_run;
};

// A check or a test that says that the wheel is not good.
class WheelRefused : public Error {
 public:
  using Error::Error;
};

// One step from its source to the store. Each phase leaves a state from which the same job goes on.
class StepRunner {
 public:
  explicit StepRunner(Job job);
  StepOutcome run();

 private:
  // Phases, in order.
  void prepare_source();
  void fetch_companions();
  void prepare_environment();
  void prepare_rocm();
  void look_at_environment();
  void check_torch();
  void prepare_tools();
  void prepare_build();
  std::filesystem::path build();
  std::filesystem::path pack_program();
  void finish(const std::filesystem::path& built);
  void check();
  void test();
  void publish();

  void start_phase(const std::string& name);
  void note(const std::string& text);
  // Runs in the step's environment; output goes to the log, the finder and the status.
  void run_tool(sys::Command command, const std::string& what);
  void govern();
  [[nodiscard]] governor::CacheOptions cache_options();
  void tell_memory();
  void end_governing(int exit);
  [[nodiscard]] unsigned jobs() const;
  void find_folder(FirstFailure& failure) const;
  void remove_stale_copies() const;
  [[nodiscard]] sys::Environment plain_environment() const;
  [[nodiscard]] sys::Environment tool_environment();  // the same, governed
  [[nodiscard]] std::string with_paths(std::string text) const;
  document::Value call_hook(const std::string& hook);
  bool add_hook_requirements();
  [[nodiscard]] document::Value provenance(const wheel::Inspection& inspection) const;
  void check_identity(const std::string& file_name) const;
  void check_members(const std::vector<std::string>& members, std::vector<Finding>& findings) const;
  void write_repeat_script(const CommandFailed& failed);
  void finish_failure(const std::string& cause);

  Job m_job;
  store::Store m_store;
  Log m_log;
  recipe::Recipe m_recipe;
  const recipe::Rules& m_rules;
  toolchain::Host m_host;
  fetch::Fetcher m_fetcher;
  std::filesystem::path m_tree, m_source, m_toolkit;
  env::Lock m_lock;
  env::Environment m_environment;
  std::vector<std::filesystem::path> m_torch_sites;
  std::optional<toolchain::Torch> m_torch;
  bool m_network_isolated = false;
  std::optional<CacheRelay> m_relay;
  std::optional<governor::GovernedBuild> m_governed;
  std::chrono::steady_clock::time_point m_told_memory{};
  sys::Environment m_git_variables;  // by which a git below the build finds the mirrors
  std::filesystem::path m_wheel;     // finished, not yet published
  StepOutcome m_outcome;
  document::Value m_provenance;
  std::chrono::steady_clock::time_point m_started = std::chrono::steady_clock::now();
};

// One event as a line of JSON on standard output.
void emit_event(const Event& event);

// Runs the recipe's tests of a wheel in an environment with what it requires.
struct TestBench {
  const recipe::Rules& rules;
  const toolchain::Python& python;
  recipe::Variant variant;
  std::filesystem::path wheel;
  std::vector<std::string> requirements;  // more than the wheel's own: the torch it was built with
  std::vector<std::string> constraints;
  std::vector<std::filesystem::path> wheelhouses, torch_sites;
  std::vector<std::string> index_urls;
  bool prereleases = false, offline = false;
  store::Store& store;
  fetch::Fetcher& fetcher;
  const toolchain::Host& host;
  std::function<void(const std::string&)> log;
};
std::vector<TestOutcome> run_tests(const TestBench& bench);

}  // namespace wheelsmith::run
