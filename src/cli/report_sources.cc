#include "cli/report_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

using document::Array;
using document::Value;

// How much earlier than its build's file a record may seem to begin.
constexpr double k_slack = 2;

struct BuildFile {
  std::filesystem::path path;
  double started = 0, changed = 0;
  std::vector<std::string> planned;  // ids of all steps
  std::vector<run::StepOutcome> steps;
};

// Seconds since 1970.
double changed_at(const std::filesystem::path& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (error) return 0;
  const auto system = std::chrono::file_clock::to_sys(time);
  return std::chrono::duration<double>(system.time_since_epoch()).count();
}

std::vector<std::filesystem::path> files_like(const std::filesystem::path& folder, std::string_view pattern) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (glob_match(pattern, entry->path().filename().string())) files.push_back(entry->path());
  }
  // The newest first; of two that changed at one time the later name.
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return std::make_pair(changed_at(a), a) > std::make_pair(changed_at(b), b);
  });
  return files;
}

BuildFile build_from(const Value& value, const std::filesystem::path& path) {
  BuildFile build;
  build.path = path;
  build.started = value["started"].number();
  build.changed = changed_at(path);
  build.planned = value["planned"].texts();
  if (const Array* steps = value["steps"].array()) {
    for (const Value& step : *steps) build.steps.push_back(run::StepOutcome::from_value(step));
  }
  return build;
}

// The newest first; one that cannot be read is left out: others can.
std::vector<BuildFile> builds_in(const std::filesystem::path& logs) {
  std::vector<BuildFile> builds;
  for (const std::filesystem::path& file : files_like(logs, "build-*.json")) {
    try {
      builds.push_back(build_from(document::parse_json(sys::read_file(file), file.string()), file));
    } catch (const Error&) {}
  }
  return builds;
}

report::BuildRecord record_in(const std::filesystem::path& file) {
  report::BuildRecord record = report::read_record(sys::read_file(file));
  // One in which nothing has happened yet.
  if (record.started == 0) record.started = record.ended = changed_at(file);
  return record;
}

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// A record belongs to the last build that began before it and has a step of its name.
const BuildFile* owner_of(const report::BuildRecord& record, const std::vector<BuildFile>& builds) {
  const BuildFile* owner = nullptr;
  for (const BuildFile& build : builds) {
    if (!has(build.planned, record.name) || build.started > record.started + k_slack) continue;
    if (owner == nullptr || build.started > owner->started) owner = &build;
  }
  return owner;
}

// The build's records; of all steps, or of one.
void add_records(report::BuildReport& report, const std::filesystem::path& logs, const BuildFile& build,
                 const std::vector<BuildFile>& builds, const std::string& only = "") {
  std::vector<report::BuildRecord> records;
  for (const std::filesystem::path& file : files_like(logs, "compiles-*.jsonl")) {
    if (changed_at(file) < build.started - k_slack) break;
    report::BuildRecord record = record_in(file);
    if (!only.empty() && record.name != only) continue;
    if (owner_of(record, builds) == &build) records.push_back(std::move(record));
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.started < b.started; });
  for (report::BuildRecord& record : records) report.records.push_back(std::move(record));
}

bool was_compiled(const run::StepOutcome& step) {
  return step.outcome == run::Outcome::built || step.outcome == run::Outcome::failed;
}

}  // namespace

void add_file(report::BuildReport& report, const std::filesystem::path& file) {
  const std::string text = sys::read_file(file);
  try {
    const Value value = document::parse_json(text, file.string());
    if (value["steps"].array() != nullptr) {
      for (run::StepOutcome& step : build_from(value, file).steps) report.steps.push_back(std::move(step));
      return;
    }
  } catch (const Error&) {  // lines of JSON are no document
  }
  report::BuildRecord record = report::read_record(text);
  if (record.started == 0 && record.name.empty() && record.id.empty()) {
    throw Error(fmt::format("{} is neither a record of compiles nor a build's outcomes", file.string()));
  }
  if (record.started == 0) record.started = record.ended = changed_at(file);
  report.records.push_back(std::move(record));
}

void add_newest(report::BuildReport& report, const std::filesystem::path& logs) {
  const std::vector<BuildFile> builds = builds_in(logs);
  const std::vector<std::filesystem::path> records = files_like(logs, "compiles-*.jsonl");
  const BuildFile* newest = builds.empty() ? nullptr : &builds.front();
  if (!records.empty() && (newest == nullptr || changed_at(records.front()) >= newest->changed)) {
    report::BuildRecord record = record_in(records.front());
    newest = owner_of(record, builds);
    if (newest == nullptr) {
      report.records.push_back(std::move(record));
      return;
    }
  }
  if (newest == nullptr) {
    throw Error(fmt::format("{} holds no build yet; `wheelsmith build` and `wheelsmith run` leave one", logs.string()));
  }
  report.steps.insert(report.steps.end(), newest->steps.begin(), newest->steps.end());
  add_records(report, logs, *newest, builds);
}

void add_build_of_step(report::BuildReport& report, const std::filesystem::path& logs, const std::string& name) {
  const std::vector<BuildFile> builds = builds_in(logs);
  std::vector<std::string> known;
  const BuildFile* chosen = nullptr;
  const run::StepOutcome* chosen_step = nullptr;
  for (const BuildFile& build : builds) {
    for (const run::StepOutcome& step : build.steps) {
      known.push_back(step.id);
      if (step.id != name && step.package != name) continue;
      if (chosen_step != nullptr && (was_compiled(*chosen_step) || !was_compiled(step))) continue;
      chosen = &build;
      chosen_step = &step;
    }
  }
  if (chosen == nullptr) {
    const auto near = nearest(name, known);
    throw Error(fmt::format("there is no file and no step {}{}", name, near ? "; did you mean " + *near + "?" : ""));
  }
  report.steps.push_back(*chosen_step);
  add_records(report, logs, *chosen, builds, chosen_step->id);
}

std::string title_of(const report::BuildReport& report) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (!name.empty() && !has(names, name)) names.push_back(name);
  };
  for (const run::StepOutcome& step : report.steps) add(report.steps.size() == 1 ? step.id : step.package);
  if (names.empty()) {
    for (const report::BuildRecord& record : report.records) add(record.name.substr(0, 200));
  }
  if (names.size() > 3) {
    const std::size_t more = names.size() - 2;
    names.resize(2);
    return join(names, ", ") + fmt::format(" and {} more", more);
  }
  return join(names, ", ");
}

}  // namespace wheelsmith::cli
