#include "build/build.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "build/attestations.h"
#include "choose/python.h"
#include "doctor/checklist.h"
#include "env/env.h"
#include "slurm/commands.h"

namespace wheelsmith::build {

namespace {

void refuse_bad_machine(const plan::Plan& plan, const BuildOptions& options, const toolchain::Host& host,
                        const Watcher& watcher) {
  if (options.despite_doctor) return;
  const std::vector<doctor::Check> bad = doctor::examine_plan(plan, options.examination, host);
  if (bad.empty()) return;
  watcher.on_bad_checks(bad);
  const doctor::Check& first = bad.front();
  throw Error(
      fmt::format("this machine cannot build it yet: {}{} (see wheelsmith doctor; --despite-doctor builds anyway)",
                  first.found.empty() ? first.id : first.id + ": " + first.found,
                  bad.size() > 1 ? fmt::format(" and {} more", bad.size() - 1) : ""));
}

void install_wheels(const BuildResult& result, const std::filesystem::path& into, const toolchain::Host& host,
                    const Watcher& watcher) {
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    const std::filesystem::path& wheel = result.outcomes[i].wheel;
    if (wheel.empty()) continue;
    const toolchain::Python python =
        into.empty() ? result.plan.steps[i].spec.python : toolchain::find_python(into.string(), host);
    env::install_wheel(wheel, env::install_target(python), true, usable_threads());
    watcher.on_installed(fmt::format("installed {} into {}", wheel.filename().string(), python.prefix.string()));
  }
}

std::vector<doctor::BuiltPackage> packages_of(const BuildResult& result) {
  std::vector<doctor::BuiltPackage> packages;
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    const run::StepOutcome& outcome = result.outcomes[i];
    const bool left_out = outcome.optional && !outcome.made();
    packages.push_back({result.plan.steps[i].spec.project, outcome.wheel,
                        left_out ? std::string(run::to_string(outcome.outcome)) : ""});
  }
  return packages;
}

// Copies results from remote stores before anything starts, so that other steps find them in the local store. A step
// that cannot be copied is built.
void pull_results(plan::Plan& plan, const BuildOptions& options) {
  for (plan::Step& step : plan.steps) {
    if (step.decision.remote.empty() || !options.pull) continue;
    const std::string problem = options.pull(step);
    if (problem.empty()) continue;
    plan.notes.push_back(
        fmt::format("cannot copy {} from {}; it is built instead: {}", step.id(), step.decision.remote, problem));
    step.decision.cached = false;
    step.decision.reason = fmt::format("copying it from {} failed", step.decision.remote);
    step.decision.remote.clear();
  }
}

}  // namespace

std::string plan_id(const plan::Plan& plan) {
  std::string text;
  for (const plan::Step& step : plan.steps) text += fmt::format("{} {}\n", step.id(), step.spec.key);
  return to_hex(sha256(Bytes(text))).substr(0, 8);
}

bool BuildResult::good() const {
  return run::all_made(outcomes) && not_attested.empty() && not_installed.empty() && !doctor::any_bad(checklist);
}

BuildResult build(const choose::Request& request, const plan::PlanInputs& inputs, const BuildOptions& options,
                  const Watcher& watcher) {
  BuildResult result;
  if (options.signer) attest::check_signer(*options.signer);
  result.plan = plan::make_plan(request, inputs);
  if (!options.only.empty()) plan::keep_only(result.plan, options.only);
  pull_results(result.plan, options);
  watcher.on_plan(result.plan);
  refuse_bad_machine(result.plan, options, inputs.host, watcher);
  slurm::ProgramCommands commands;
  const std::unique_ptr<run::Executor> executor = options.slurm
                                                      ? run::make_slurm_executor(inputs.store, commands, *options.slurm)
                                                      : run::make_local_executor(inputs.store, options.local);
  run::RunOptions running = options.run;
  const std::string id = plan_id(result.plan);
  running.about["id"] = id;
  running.about["on"] = options.slurm ? "slurm" : "local";
  watcher.on_start(id);
  result.outcomes = run::run_plan(result.plan, inputs.store, *executor, running);
  try {
    attest_wheels(result.outcomes, options.signer);
  } catch (const Error& error) {  // built wheels are reported even if they cannot be signed
    result.not_attested = fmt::format("built, but not {}: {}", options.signer ? "signed" : "attested", error.what());
    return result;
  }
  if (!run::all_made(result.outcomes)) return result;
  const std::filesystem::path into = choose::interpreter_of(options.into);
  try {
    if (options.install) install_wheels(result, into, inputs.host, watcher);
  } catch (const Error& error) {  // built wheels are reported even if they cannot be installed
    result.not_installed = fmt::format("built, but not installed: {}", error.what());
    return result;
  }
  result.checklist = doctor::closing_checklist(
      result.plan, {.packages = packages_of(result), .installed = options.install, .into = into, .host = inputs.host});
  for (const plan::Step& step : result.plan.steps) {
    if (step.closing.asked_for)
      result.runtime.insert(result.runtime.end(), step.closing.runtime.begin(), step.closing.runtime.end());
  }
  return result;
}

}  // namespace wheelsmith::build
