#include "report/build/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "base/error.h"
#include "base/parallel.h"
#include "base/request_error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/page_trimmer.h"
#include "wheel/read/inspect.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Value;

// Seconds by which a record may start before its build according to their clocks.
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
  // Newest first; files with the same time by descending name.
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

// Newest first.
std::vector<BuildFile> builds_in(const std::filesystem::path& logs) {
  std::vector<BuildFile> builds;
  for (const std::filesystem::path& file : files_like(logs, "build-*.json")) {
    try {
      builds.push_back(build_from(document::parse_json(sys::read_file(file), file.string()), file));
    } catch (const Error&) {  // skipped: a build that was killed while writing must not hide the others
    }
  }
  return builds;
}

BuildRecord record_in(const std::filesystem::path& file) {
  BuildRecord record = read_record(sys::read_file(file));
  // A record without events yet.
  if (record.started == 0) record.started = record.ended = changed_at(file);
  return record;
}

bool has(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// A record belongs to the last build that started before it and has a step of its name.
const BuildFile* owner_of(const BuildRecord& record, const std::vector<BuildFile>& builds) {
  const BuildFile* owner = nullptr;
  for (const BuildFile& build : builds) {
    if (!has(build.planned, record.name) || build.started > record.started + k_slack) continue;
    if (owner == nullptr || build.started > owner->started) owner = &build;
  }
  return owner;
}

// Adds the records of a build: of all steps, or of one.
void add_records(BuildReport& report, const std::filesystem::path& logs, const BuildFile& build,
                 const std::vector<BuildFile>& builds, const std::string& only = "") {
  std::vector<BuildRecord> records;
  for (const std::filesystem::path& file : files_like(logs, "compiles-*.jsonl")) {
    if (changed_at(file) < build.started - k_slack) break;
    BuildRecord record = record_in(file);
    if (!only.empty() && record.name != only) continue;
    if (owner_of(record, builds) == &build) records.push_back(std::move(record));
  }
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) { return a.started < b.started; });
  for (BuildRecord& record : records) report.records.push_back(std::move(record));
}

bool was_compiled(const run::StepOutcome& step) {
  return step.outcome == run::Outcome::built || step.outcome == run::Outcome::failed;
}

// The log folder of a file of outcomes: its own folder, or the one in its steps; "" if there is none.
std::filesystem::path logs_of(const BuildFile& build) {
  std::vector<std::filesystem::path> folders = {build.path.parent_path()};
  for (const run::StepOutcome& step : build.steps) {
    if (!step.log.empty()) folders.push_back(step.log.parent_path());
  }
  for (const std::filesystem::path& folder : folders) {
    if (!files_like(folder.empty() ? "." : folder, "compiles-*.jsonl").empty()) return folder.empty() ? "." : folder;
  }
  return {};
}

// Adds the records of a build given by its file, in the same way as for the newest build in the store.
void add_records_of_file(BuildReport& report, const BuildFile& named) {
  const std::filesystem::path logs = logs_of(named);
  if (logs.empty()) return;
  const std::vector<BuildFile> builds = builds_in(logs);
  std::error_code ignored;
  for (const BuildFile& build : builds) {
    if (std::filesystem::equivalent(build.path, named.path, ignored)) return add_records(report, logs, build, builds);
  }
  // Output of `build --json`: the same steps with the same times.
  const auto same_steps = [&](const BuildFile& build) {
    return std::ranges::equal(build.steps, named.steps, [](const run::StepOutcome& a, const run::StepOutcome& b) {
      return a.id == b.id && a.key == b.key && a.outcome == b.outcome && a.log == b.log;
    });
  };
  const auto found = std::ranges::find_if(builds, same_steps);
  if (found != builds.end()) add_records(report, logs, *found, builds);
}

// Adds the contents of a file: a record, the outcomes of a build, or the output of `build --json`.
void add_file(BuildReport& report, const std::filesystem::path& file) {
  const std::string text = sys::read_file(file);
  try {
    const Value value = document::parse_json(text, file.string());
    if (value["steps"].array() != nullptr) {
      const BuildFile build = build_from(value, file);
      report.steps.insert(report.steps.end(), build.steps.begin(), build.steps.end());
      add_records_of_file(report, build);
      return;
    }
  } catch (const Error&) {  // lines of JSON are not one document
  }
  BuildRecord record = read_record(text);
  if (record.started == 0 && record.name.empty() && record.id.empty()) {
    throw Error(fmt::format("{} is neither a compile record nor the outcomes of a build", file.string()));
  }
  if (record.started == 0) record.started = record.ended = changed_at(file);
  report.records.push_back(std::move(record));
}

// Adds the newest build of a folder of logs, with the records of its steps.
void add_newest(BuildReport& report, const std::filesystem::path& logs) {
  const std::vector<BuildFile> builds = builds_in(logs);
  const std::vector<std::filesystem::path> records = files_like(logs, "compiles-*.jsonl");
  const BuildFile* newest = builds.empty() ? nullptr : &builds.front();
  if (!records.empty() && (newest == nullptr || changed_at(records.front()) >= newest->changed)) {
    BuildRecord record = record_in(records.front());
    newest = owner_of(record, builds);
    if (newest == nullptr) {
      report.records.push_back(std::move(record));
      return;
    }
  }
  if (newest == nullptr) {
    throw Error(
        fmt::format("{} contains no builds yet; `wheelsmith build` and `wheelsmith run` record one", logs.string()));
  }
  report.steps.insert(report.steps.end(), newest->steps.begin(), newest->steps.end());
  add_records(report, logs, *newest, builds);
}

// Adds a step and its records from its newest build, preferring a build that compiled it over one that found it in the
// store. `name` is the id of a step or the name of a package.
void add_build_of_step(BuildReport& report, const std::filesystem::path& logs, const std::string& name) {
  const std::vector<BuildFile> builds = builds_in(logs);
  std::vector<std::string> known;
  const BuildFile* chosen = nullptr;
  const run::StepOutcome* chosen_step = nullptr;
  for (const BuildFile& build : builds) {
    for (const run::StepOutcome& step : build.steps) {
      known.push_back(step.id);
      if (step.id != name && !pep::same_name(step.package, name)) continue;
      if (chosen_step != nullptr && (was_compiled(*chosen_step) || !was_compiled(step))) continue;
      chosen = &build;
      chosen_step = &step;
    }
  }
  if (chosen == nullptr) {
    const auto near = nearest(name, known);
    throw RequestError(
        fmt::format("no file or build named {}{}", printable(name), near ? "; did you mean " + *near + "?" : ""));
  }
  report.steps.push_back(*chosen_step);
  add_records(report, logs, *chosen, builds, chosen_step->id);
}

// "flash-attn", "torch, vision and 3 more", "ninja -C build": the title of the report.
std::string title_of(const BuildReport& report) {
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (!name.empty() && !has(names, name)) names.push_back(name);
  };
  for (const run::StepOutcome& step : report.steps) add(report.steps.size() == 1 ? step.id : step.package);
  if (names.empty()) {
    for (const BuildRecord& record : report.records) add(record.name.substr(0, 200));
  }
  if (names.size() > 3) {
    const std::size_t more = names.size() - 2;
    names.resize(2);
    return join(names, ", ") + fmt::format(" and {} more", more);
  }
  return join(names, ", ");
}

class Collector {
 public:
  explicit Collector(const StoreOpener& open_store) : m_open_store(open_store) {}

  void add(BuildReport& report, const std::string& source) {
    std::error_code ignored;
    if (sys::is_folder(source)) {
      add_newest(report, source);
    } else if (std::filesystem::exists(source, ignored)) {
      add_file(report, source);
    } else {
      add_build_of_step(report, store().folder("logs"), source);
    }
  }
  void add_newest_build(BuildReport& report) { add_newest(report, store().folder("logs")); }

  [[nodiscard]] WheelSizes sizes_of(const run::StepOutcome& step) const {
    WheelSizes sizes;
    sizes.step = step.id;
    sizes.path = step.wheel.string();
    try {
      const std::filesystem::path file = wheel_of(step);
      const Blob mapped = sys::map_file(file);
      const sys::PageTrimmer trimmer(mapped.bytes);
      const wheel::Inspection inspection =
          wheel::inspect_file(file.string(), mapped.bytes, {.threads = usable_threads(), .platform = {}});
      sizes.size = inspection.size;
      sizes.unpacked_size = inspection.unpacked_size;
      sizes.file_count = inspection.file_count;
      sizes.gpu = inspection.gpu;
    } catch (const Error& error) {  // one wheel becomes an item with an error
      sizes.error = error.what();
    }
    return sizes;
  }

 private:
  // Opens the store on first use.
  store::Store& store() {
    if (m_store == nullptr) m_store = &m_open_store();
    return *m_store;
  }

  // A wheel that is no longer in the wheelhouse may still be in the store.
  [[nodiscard]] std::filesystem::path wheel_of(const run::StepOutcome& step) const {
    std::error_code ignored;
    if (m_store == nullptr || std::filesystem::exists(step.wheel, ignored)) return step.wheel;
    const auto record = m_store->find_step(step.key);
    const auto blob = record ? m_store->blob(record->wheel_sha256) : std::nullopt;
    return blob ? *blob : step.wheel;
  }

  const StoreOpener& m_open_store;
  store::Store* m_store = nullptr;
};

}  // namespace

BuildReport collect_report(const std::vector<std::string>& sources, const StoreOpener& open_store) {
  Collector collector(open_store);
  BuildReport report;
  for (const std::string& source : sources) collector.add(report, source);
  if (sources.empty()) collector.add_newest_build(report);
  report.title = title_of(report);
  for (const run::StepOutcome& step : report.steps) {
    if (!step.wheel.empty()) report.wheels.push_back(collector.sizes_of(step));
  }
  return report;
}

}  // namespace wheelsmith::report
