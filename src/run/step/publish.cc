#include <chrono>

#include "document/fields.h"
#include "run/step/phases.h"
#include "sys/files.h"

namespace wheelsmith::run {

namespace {

document::Value tests_value(const std::vector<TestOutcome>& tests) {
  StepOutcome outcome;
  outcome.tests = tests;
  return outcome.to_value()["tests"];
}

}  // namespace

// Every wheel becomes a blob, from which it is delivered. Only a wheel whose inputs are all known becomes a step that
// later builds find by key.
Artifact publish(const Job& job, const FinishedWheel& wheel, const std::vector<TestOutcome>& tests, double seconds,
                 const StepServices& services) {
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
  if (job.held.empty())
    services.store.put_step(record);
  else
    sys::write_file(job.held, document::to_json(record.to_value()));
  return artifact;
}

}  // namespace wheelsmith::run
