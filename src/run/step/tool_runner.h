#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/error.h"
#include "governor/governor.h"
#include "run/sandbox.h"
#include "run/step/phases.h"
#include "sys/process/process.h"

namespace wheelsmith::run {

// A command that did not end well; what is known of it travels with the error.
class CommandFailed : public Error {
 public:
  CommandFailed(const std::string& what, std::optional<FirstFailure> first, sys::Command command, bool with_network)
      : Error(what), failure(std::move(first)), command_run(std::move(command)), had_network(with_network) {}
  std::optional<FirstFailure> failure;
  sys::Command command_run;
  bool had_network;
};

// Runs the foreign commands of a step: in the package's folder, with the step's variables and no others, without
// network unless the step may use it, its compilers admitted by the governor. Output goes to the log, to the finder of
// the first failure and, as progress, to the status.
class ToolRunner {
 public:
  ToolRunner(const Job& job, const recipe::Rules& rules, const SourceTree& tree, const BuildEnvironment& environment,
             const StepServices& services);
  ~ToolRunner();
  ToolRunner(const ToolRunner&) = delete;
  ToolRunner& operator=(const ToolRunner&) = delete;

  // ${tree} and its like become the real places. Throws CommandFailed; `what` names the command in the message.
  // `network`: this command may use it, whatever holds for the build.
  void run(const std::vector<std::string>& argv, const std::string& what, bool network = false);
  // The value that a PEP 517 hook returned.
  document::Value call_hook(const plan::CallHook& call);
  [[nodiscard]] std::string with_paths(std::string text) const;

  // Of the commands: what they were kept from.
  [[nodiscard]] Confinement confinement() const;
  // For questions to the environment's interpreter, which runs code of packages.
  [[nodiscard]] toolchain::Host confined_host() const;
  // A script that repeats a failed command, in the environment it had; empty when it cannot be written.
  [[nodiscard]] std::filesystem::path write_repeat_script(const CommandFailed& failed) const;
  // After the last command, and again where what follows fails: what the compile cache did. What the governor had to
  // do becomes a note.
  governor::CacheCounts finish(bool good);

 private:
  void govern(const recipe::Rules& rules);
  cache::CacheOptions cache_options(const recipe::Rules& rules);
  void tell_compiles();
  [[nodiscard]] unsigned jobs() const;
  [[nodiscard]] sys::Environment plain_variables(bool network) const;
  [[nodiscard]] sys::Environment governed_variables(bool network);
  void find_folder(FirstFailure& failure) const;
  [[nodiscard]] sys::SandboxPolicy policy(bool network) const;

  const Job& m_job;
  const SourceTree& m_tree;
  const BuildEnvironment& m_environment;
  const StepServices& m_services;
  const recipe::Rules& m_rules;
  sys::SandboxMode m_sandbox;
  bool m_network_isolated;
  sys::Environment m_git_variables;  // by which a git below the build finds the mirrors
  std::optional<governor::GovernedBuild> m_governed;
  std::chrono::steady_clock::time_point m_told_compiles{};
  governor::CacheCounts m_cache;
};

}  // namespace wheelsmith::run
