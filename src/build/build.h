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

// `wheelsmith build` as one function: plan, ask the doctor, run, install, and what a build is closed with.

namespace wheelsmith::build {

struct BuildOptions {
  run::RunOptions run;
  run::LocalOptions local;
  doctor::PlanExamination examination;
  std::string only{};  // one step of the plan: its id or its package
  // Copies a step's result from the remote store that the plan named: "" or why it is not here now.
  std::function<std::string(const plan::Step&)> pull{};
  bool despite_doctor = false;
  bool install = false;
  std::optional<attest::Signer> signer;  // signs each delivered wheel and its statement
  std::filesystem::path into;  // with install: an environment's folder or an interpreter; empty: the one built for
};

// What is told while it runs.
struct Watcher {
  std::function<void(const plan::Plan&)> on_plan = [](const plan::Plan&) {};
  std::function<void(const std::vector<doctor::Check>&)> on_bad_checks = [](const std::vector<doctor::Check>&) {};
  std::function<void(const std::string&)> on_installed = [](const std::string&) {};
};

struct BuildResult {
  plan::Plan plan;
  std::vector<run::StepOutcome> outcomes;  // in the plan's order
  std::string not_attested;                // why a statement or a signature is missing; "" where none is
  std::string not_installed;               // why; "" where nothing went wrong
  std::vector<doctor::Check> checklist;
  std::vector<recipe::RuntimeVariable> runtime;  // variables that matter when the packages run

  [[nodiscard]] bool good() const;
};

// Throws Error for a plan that cannot be made, and for a machine that cannot build it.
BuildResult build(const choose::Request& request, const plan::PlanInputs& inputs, const BuildOptions& options,
                  const Watcher& watcher);

}  // namespace wheelsmith::build
