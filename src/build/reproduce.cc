#include "build/reproduce.h"

#include <fmt/format.h>

#include "attest/carried_files.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "plan/rebind.h"
#include "plan/step/carried.h"
#include "store/store.h"
#include "sys/file.h"
#include "wheel/compare/compare.h"

namespace wheelsmith::build {

namespace {

// The wheels of the final build environment, including those of other steps.
env::Lock recorded_lock(const document::Value& provenance) {
  env::Lock lock;
  const document::Array* wheels = provenance["build_requirements"].array();
  if (wheels == nullptr) return lock;
  for (const document::Value& wheel : *wheels)
    lock.wheels.push_back(
        {wheel["name"].text_or(), wheel["version"].text_or(), wheel["file"].text_or(), "", wheel["sha256"].text_or()});
  return lock;
}

// Digests such as "tool:cc/cc1plus" are exact but not readable; the version beside them is.
std::vector<run::EnvironmentDifference> differences(const document::Value& provenance, const plan::BuildSpec& recorded,
                                                    const plan::Rebound& bound) {
  std::vector<run::EnvironmentDifference> result;
  const auto compare = [&](const char* what, const std::string& before, const std::string& here) {
    if (before != here) result.push_back({what, before, here});
  };
  const plan::ToolSpec &was = recorded.tools, &is = bound.spec.tools;
  compare("wheelsmith", provenance["builder"].text_or(), "wheelsmith " WHEELSMITH_VERSION);
  compare("Python", recorded.python.version, bound.spec.python.version);
  compare("compiler", was.compiler_family + " " + was.compiler_version, is.compiler_family + " " + is.compiler_version);
  compare("CUDA toolkit", was.cuda.version, is.cuda.version);
  compare("ROCm", was.rocm.version, is.rocm.version);
  compare("container image", recorded.container.id, bound.spec.container.id);
  // The key covers values that the wheel does not contain.
  if (bound.changes.empty()) compare("key", provenance["key"].text_or(), bound.spec.key);
  for (const store::Change& change : bound.changes) result.push_back({change.name, change.before, change.after});
  return result;
}

plan::Plan plan_of(plan::BuildSpec spec) {
  plan::Step step;
  step.spec = std::move(spec);
  step.decision.reason = "reproducing a wheel";
  step.closing.asked_for = true;
  plan::Plan plan;
  plan.steps.push_back(std::move(step));
  return plan;
}

// Keeps the delivered wheel, but removes its blob from the store, unless it is the wheel of a step.
void drop_rebuilt(const run::StepOutcome& outcome, bool was_there, const std::string& recorded_key,
                  store::Store& store) {
  if (!outcome.artifact || was_there) return;
  const auto record = store.find_step(recorded_key);
  if (!record || record->wheel_sha256 != outcome.artifact->sha256) store.drop_blob(outcome.artifact->sha256);
}

}  // namespace

run::Reproduction reproduce(const std::filesystem::path& wheel, const plan::PlanInputs& inputs,
                            const ReproduceOptions& options) {
  run::Reproduction result;
  result.path = wheel;
  const Blob file = sys::map_file(wheel);
  result.sha256 = to_hex(sha256(file.bytes));
  const attest::CarriedFiles carried = attest::read_carried_files(file.bytes);
  if (!carried.build)
    throw Error(fmt::format("the wheel has no wheelsmith/build.json: it was built by {}, which did not write one",
                            printable(carried.provenance["builder"].text_or("an older wheelsmith"))));
  plan::RebindInputs rebind{.recorded = plan::read_carried(*carried.build, carried.recipe),
                            .lock = recorded_lock(carried.provenance),
                            .name = "reproduce-" + result.sha256.substr(0, 16)};
  rebind.pythons = options.pythons;
  rebind.source = options.source;
  rebind.variables = options.variables;
  rebind.container = options.container;
  rebind.torch = options.torch;
  rebind.wheel_folders = options.wheel_folders;
  rebind.wheel_folders.push_back(std::filesystem::absolute(wheel).parent_path());
  const plan::Rebound bound = plan::rebind(rebind, inputs);
  result.environment = differences(carried.provenance, rebind.recorded, bound);

  run::RunOptions run = options.run;
  run.clean = true;
  run.cache = {};
  run.rebuild = bound.lock;
  const bool was_there = inputs.store.blob(result.sha256).has_value();
  const std::unique_ptr<run::Executor> executor = run::make_local_executor(inputs.store, options.local);
  result.build = run::run_plan(plan_of(bound.spec), inputs.store, *executor, run).at(0);
  drop_rebuilt(*result.build, was_there, carried.provenance["key"].text_or(), inputs.store);
  if (!result.build->made()) return result;
  result.rebuilt = result.build->wheel;
  const Blob rebuilt = sys::map_file(result.rebuilt);
  result.rebuilt_sha256 = to_hex(sha256(rebuilt.bytes));
  result.comparison = wheel::compare_wheels(file.bytes, rebuilt.bytes);
  return result;
}

}  // namespace wheelsmith::build
