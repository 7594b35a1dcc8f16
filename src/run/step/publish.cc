#include <chrono>

#include "document/fields.h"
#include "plan/cutoff.h"
#include "run/step/phases.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

document::Value tests_value(const std::vector<TestOutcome>& tests) {
  StepOutcome outcome;
  outcome.tests = tests;
  return outcome.to_value()["tests"];
}

// For the early cut-off (src/plan/cutoff.h). Without this document the step is rebuilt with every other wheel that it
// needs; so is a wheel that may contain their code.
void note_seen(const Job& job, const BuildView& view, const std::string& own_wheel, store::Store& store) {
  store.drop_seen(job.spec.key);
  if (job.needs.empty() || view.may_copy_libraries) return;
  const auto own = plan::stored_interface(own_wheel, store);
  if (!own) return;
  std::vector<plan::SeenWheel> seen;
  for (const NeededWheel& need : job.needs) {
    const auto interface = plan::stored_interface(need.wheel.sha256, store);
    if (!interface || plan::share_a_library(*own, *interface)) return;
    seen.push_back(
        plan::seen_wheel({need.project, need.wheel.file_name, need.wheel.sha256}, *interface, view.headers_read));
  }
  store.put_seen(job.spec.key, document::to_json(plan::seen_value(seen), 1) + "\n");
}

}  // namespace

// Every wheel becomes a blob, from which it is delivered. Only a wheel whose inputs are all known becomes a step that
// later builds find by key.
Artifact publish(const Job& job, const FinishedWheel& wheel, const std::vector<TestOutcome>& tests, double seconds,
                 const BuildView& view, const StepServices& services) {
  const plan::BuildSpec& spec = job.spec;
  services.report.phase(plan::Phase::publish);
  Artifact artifact;
  artifact.file_name = wheel.path.filename().string();
  artifact.size = std::filesystem::file_size(wheel.path);
  artifact.sha256 = services.store.put_blob(wheel.path);
  // The wheel's own code has run since its check.
  if (artifact.sha256 != wheel.sha256) {
    services.store.drop_blob(artifact.sha256);
    throw WheelRefused("the wheel changed between its check and its publication; its own code ran in the tests");
  }
  if (job.rebuild) return artifact;
  services.store.note_cost(spec.identity, {seconds, artifact.size, 0});
  if (spec.uncacheable || job.no_test) return artifact;
  store::StepRecord record;
  record.key = spec.key;
  record.identity = spec.identity;
  record.package = spec.package;
  record.version = spec.version;
  record.manifest = spec.manifest;
  record.wheel_name = artifact.file_name;
  record.wheel_sha256 = artifact.sha256;
  record.wheel_size = artifact.size;
  record.seconds = seconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  record.finished = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  record.provenance = wheel.provenance;
  record.tests = tests_value(tests);
  note_seen(job, view, artifact.sha256, services.store);
  if (job.held.empty())
    services.store.put_step(record);
  else
    sys::write_file(job.held, document::to_json(record.to_value()));
  return artifact;
}

}  // namespace wheelsmith::run
