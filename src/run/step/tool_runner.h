#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "governor/governor.h"
#include "run/sandbox.h"
#include "run/step/phases.h"
#include "sys/process/process.h"

namespace wheelsmith::run {

// A failed command; the error carries what is known about it.
class CommandFailed : public Error {
 public:
  CommandFailed(const std::string& what, std::optional<FirstFailure> first, sys::Command command, bool with_network)
      : Error(what), failure(std::move(first)), command_run(std::move(command)), had_network(with_network) {}
  std::optional<FirstFailure> failure;
  sys::Command command_run;
  bool had_network;
};

// Runs a step's foreign commands: in the package's folder, with only the step's variables, without network access
// unless the step has it, and with compilers admitted by the governor. Output goes to the log, to the failure finder
// and, as progress, to the status.
class ToolRunner {
 public:
  ToolRunner(const Job& job, const recipe::Rules& rules, const SourceTree& tree, const BuildEnvironment& environment,
             const StepServices& services);
  ~ToolRunner();
  ToolRunner(const ToolRunner&) = delete;
  ToolRunner& operator=(const ToolRunner&) = delete;

  // ${tree} and similar placeholders become real paths. Throws CommandFailed; `what` names the command in the message.
  // `network`: give this command network access even if the build has none.
  void run(const std::vector<std::string>& argv, const std::string& what, bool network = false);
  // The return value of a PEP 517 hook.
  document::Value call_hook(const plan::CallHook& call);
  [[nodiscard]] std::string with_paths(std::string text) const;

  // How the commands were confined.
  [[nodiscard]] Confinement confinement() const;
  // For queries to the environment's interpreter, which run package code.
  [[nodiscard]] toolchain::Host confined_host() const;
  // A script that runs a failed command again in the same environment; empty when it cannot be written.
  [[nodiscard]] std::filesystem::path write_repeat_script(const CommandFailed& failed) const;
  // Call after the last command, and again if a later phase fails: returns the compile cache's counts and notes what
  // the governor had to do.
  governor::CacheCounts finish(bool good);
  // After finish(): the files that the compiles have read, or nothing if this is not known.
  [[nodiscard]] const std::optional<std::set<std::string>>& files_read() const { return m_files_read; }

 private:
  void govern(const recipe::Rules& rules);
  cache::CacheOptions cache_options(const recipe::Rules& rules);
  void tell_compiles();
  [[nodiscard]] unsigned jobs() const;
  [[nodiscard]] sys::Environment plain_variables(bool network) const;
  [[nodiscard]] sys::Environment governed_variables(bool network);
  void find_folder(FirstFailure& failure) const;
  [[nodiscard]] sys::SandboxPolicy policy(bool network, bool elsewhere = false) const;

  const Job& m_job;
  const SourceTree& m_tree;
  const BuildEnvironment& m_environment;
  const StepServices& m_services;
  const recipe::Rules& m_rules;
  sys::SandboxMode m_sandbox;
  bool m_network_isolated;
  sys::Environment m_git_variables;  // tell git in the build where the mirrors are
  std::optional<governor::GovernedBuild> m_governed;
  std::chrono::steady_clock::time_point m_told_compiles{};
  governor::CacheCounts m_cache;
  std::optional<std::set<std::string>> m_files_read;
};

}  // namespace wheelsmith::run
