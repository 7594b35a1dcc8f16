// A plan as jobs of a continuous integration service: each step that must be built is one job that runs
// `wheelsmith build … --only STEP`. GitHub has no dependencies between jobs of one matrix, so steps are grouped into
// stages: a step's stage comes after those of all its dependencies. GitLab's jobs name their dependencies and start as
// soon as these have finished.
//
// The YAML is written as JSON, which is valid YAML, so no name depends on quoting rules that differ between parsers.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "document/value.h"
#include "plan/render/render.h"
#include "sys/process/process.h"

namespace wheelsmith::plan {

namespace {

// Limits of the services: jobs of one matrix, and needs of one job.
constexpr std::size_t k_most_matrix_jobs = 256;
constexpr std::size_t k_most_needs = 50;
// Minutes. Forecasts are rough, and a job that times out too early loses its work.
constexpr double k_least_minutes = 30, k_most_minutes = 360, k_margin = 3;

bool is_built(const Step& step) { return !step.decision.cached && !step.is_skipped(); }

// The stage of each step that must be built.
std::map<std::string, std::size_t> stages_of(const Plan& plan) {
  std::map<std::string, std::size_t> stages;
  for (const Step& step : plan.steps) {  // in dependency order
    if (!is_built(step)) continue;
    std::size_t stage = 0;
    for (const Edge& need : step.needs) {
      if (const auto found = stages.find(need.step); found != stages.end()) stage = std::max(stage, found->second + 1);
    }
    stages[step.id()] = stage;
  }
  return stages;
}

std::int64_t timeout_minutes(const Step& step) {
  const double minutes = std::ceil(step.decision.forecast.seconds * k_margin / 60);
  return static_cast<std::int64_t>(std::clamp(minutes, k_least_minutes, k_most_minutes));
}

std::string job_command(const MatrixOptions& options, const Step& step) {
  std::string command;
  for (const std::string& word : options.command) command += sys::shell_quoted(word) + " ";
  return command + "--only " + sys::shell_quoted(step.id());
}

document::Value github_job(const MatrixOptions& options, const Step& step) {
  document::Table job;
  job["step"] = step.id();
  job["package"] = step.spec.package;
  job["version"] = step.spec.version;
  job["variant"] = recipe::to_string(step.spec.variant);
  job["python"] = step.spec.python.version;
  job["key"] = step.spec.key;
  job["command"] = job_command(options, step);
  job["timeout"] = timeout_minutes(step);
  document::Array needs;
  for (const Edge& need : step.needs) needs.emplace_back(need.step);
  job["needs"] = std::move(needs);
  return job;
}

}  // namespace

std::string to_github_matrix(const Plan& plan, const MatrixOptions& options) {
  const std::map<std::string, std::size_t> stages = stages_of(plan);
  std::size_t count = 0;
  for (const auto& [id, stage] : stages) count = std::max(count, stage + 1);
  document::Array result;
  for (std::size_t stage = 0; stage < count; ++stage) {
    document::Array jobs;
    const auto flush = [&] {
      if (jobs.empty()) return;
      document::Table matrix;
      matrix["include"] = std::exchange(jobs, {});
      result.emplace_back(std::move(matrix));
    };
    for (const Step& step : plan.steps) {
      const auto found = stages.find(step.id());
      if (found == stages.end() || found->second != stage) continue;
      jobs.push_back(github_job(options, step));
      if (jobs.size() == k_most_matrix_jobs) flush();  // the rest becomes another stage
    }
    flush();
  }
  document::Table document;
  document["schema"] = 1;
  document["jobs"] = stages.size();
  document["stages"] = std::move(result);
  return document::to_json(document, options.indent) + "\n";
}

std::string to_gitlab_pipeline(const Plan& plan, const MatrixOptions& options) {
  const std::map<std::string, std::size_t> stages = stages_of(plan);
  document::Array names;
  document::Table jobs;
  std::size_t count = 1;
  for (const Step& step : plan.steps) {
    const auto found = stages.find(step.id());
    if (found == stages.end()) continue;
    count = std::max(count, found->second + 1);
    document::Table job;
    job["stage"] = fmt::format("stage-{}", found->second);
    job["script"] = document::Array{job_command(options, step)};
    job["timeout"] = fmt::format("{} minutes", timeout_minutes(step));
    document::Array needs;
    for (const Edge& need : step.needs) {
      if (!stages.contains(need.step)) continue;
      document::Table one;
      one["job"] = need.step;
      one["artifacts"] = false;
      if (need.optional) one["optional"] = true;
      needs.emplace_back(std::move(one));
    }
    // Without the list a job waits for all earlier stages, which is correct if the list would be too long.
    if (needs.size() <= k_most_needs) job["needs"] = std::move(needs);
    jobs[step.id()] = std::move(job);
  }
  if (jobs.empty()) {  // a pipeline without jobs is an error
    document::Table job;
    job["stage"] = "stage-0";
    job["script"] = document::Array{"echo 'every step is in the store'"};
    jobs["nothing-to-build"] = std::move(job);
  }
  for (std::size_t stage = 0; stage < count; ++stage) names.emplace_back(fmt::format("stage-{}", stage));
  document::Table document;
  document["stages"] = std::move(names);
  document::Table defaults;
  if (!options.image.empty()) defaults["image"] = options.image;
  if (!options.setup.empty()) defaults["before_script"] = document::Array(options.setup.begin(), options.setup.end());
  if (!defaults.empty()) document["default"] = std::move(defaults);
  for (auto& [name, job] : jobs) document[name] = std::move(job);
  return "# A child pipeline, written by `wheelsmith plan --matrix gitlab`. JSON is YAML.\n" +
         document::to_json(document, 2) + "\n";
}

}  // namespace wheelsmith::plan
