#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attest/sign.h"
#include "choose/request.h"
#include "doctor/examiner.h"
#include "plan/plan.h"
#include "run/local_executor.h"
#include "run/run.h"
#include "run/slurm/slurm_executor.h"

// `wheelsmith build` as one function: plan, check the machine, run, install, and produce the closing notes.

namespace wheelsmith::build {

struct BuildOptions {
  run::RunOptions run;
  run::LocalOptions local;
  std::optional<run::SlurmOptions> slurm;  // steps run as jobs of Slurm instead of as processes of this machine
  doctor::PlanExamination examination;
  std::string only{};  // build one step of the plan: its id or its package
  // Copies a step's result from the remote store that the plan names. Returns "" or why it failed.
  std::function<std::string(const plan::Step&)> pull{};
  bool despite_doctor = false;
  bool install = false;
  std::optional<attest::Signer> signer;  // signs each delivered wheel and its statement
  std::filesystem::path
      into;  // with install: folder or interpreter of an environment; empty: the one that the wheel was built for
};

// Callbacks for progress.
struct Watcher {
  std::function<void(const plan::Plan&)> on_plan = [](const plan::Plan&) {};
  // Just before the steps run: the plan's name among builds (docs/cluster.md).
  std::function<void(const std::string& id)> on_start = [](const std::string&) {};
  std::function<void(const std::vector<doctor::Check>&)> on_bad_checks = [](const std::vector<doctor::Check>&) {};
  std::function<void(const std::string&)> on_installed = [](const std::string&) {};
};

struct BuildResult {
  plan::Plan plan;
  std::vector<run::StepOutcome> outcomes;  // in the plan's order
  std::string not_attested;                // why a statement or a signature is missing, or ""
  std::string not_installed;               // why installation failed, or ""
  std::vector<doctor::Check> checklist;
  std::vector<recipe::RuntimeVariable> runtime;  // environment variables for running the packages

  [[nodiscard]] bool good() const;
};

// The same for the same steps with the same inputs: "3f9c02ab".
std::string plan_id(const plan::Plan& plan);

// Throws Error if planning fails or the machine cannot build the plan.
BuildResult build(const choose::Request& request, const plan::PlanInputs& inputs, const BuildOptions& options,
                  const Watcher& watcher);

}  // namespace wheelsmith::build
