#include "report/build/build_record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <queue>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "governor/record.h"

// Several processes append to a record during a build, and some of them are killed; it may also come from another
// machine. So each line is parsed on its own, numbers are clamped, and invalid lines are counted.

namespace wheelsmith::report {

namespace {

using document::Value;

constexpr double k_latest = 1e11;   // seconds since 1970: the year 5138
constexpr double k_longest = 1e8;   // three years
constexpr double k_largest = 1e15;  // bytes; more is "no limit"
constexpr double k_same_moment =
    0.002;  // tolerance: the next compile of a slot may seem to start before the last one ended
constexpr double k_sample_holds = 3;
constexpr std::size_t k_longest_text = 4096;

double bounded(const Value& value, double most) {
  const double number = value.number();
  return std::isfinite(number) ? std::clamp(number, 0.0, most) : 0.0;
}

std::uint64_t bytes_of(const Value& value) { return static_cast<std::uint64_t>(bounded(value, k_largest)); }

std::uint64_t limit_of(const Value& value) {
  const std::uint64_t bytes = bytes_of(value);
  return bytes >= static_cast<std::uint64_t>(k_largest) ? 0 : bytes;
}

unsigned count_of(const Value& value) { return static_cast<unsigned>(bounded(value, 1e9)); }

std::string text_of(const Value& value) { return to_valid_utf8(value.text_or()).substr(0, k_longest_text); }

int exit_of(const Value& value) { return static_cast<int>(std::clamp<std::int64_t>(value.integer_or(0), -1, 1000)); }

Compile compile_of(const Value& line) {
  Compile compile;
  compile.start = bounded(line["at"], k_latest);
  compile.seconds = bounded(line["seconds"], k_longest);
  compile.wait = std::min(bounded(line["wait"], k_longest), compile.start);
  compile.paused = std::min(bounded(line["paused"], k_longest), compile.seconds);
  compile.why = text_of(line["why"]);
  compile.kind = text_of(line["kind"]);
  compile.name = text_of(line["name"]);
  compile.output = text_of(line["output"]);
  compile.unit = text_of(line["unit"]);
  compile.family = text_of(line["family"]);
  compile.outcome = text_of(line["outcome"]);
  compile.from = text_of(line["from"]);
  compile.cache = text_of(line["cache"]);
  compile.origin = enum_name(governor::origin_of(line));
  compile.cpu = bounded(line["cpu"], k_longest);
  compile.saved = bounded(line["saved"], k_longest);
  compile.peak = bytes_of(line["peak"]);
  compile.reserved = bytes_of(line["reserved"]);
  compile.estimate = bytes_of(line["estimate"]);
  compile.threads = std::max(1u, count_of(line["threads"]));
  compile.tries = count_of(line["try"]);
  compile.exit = exit_of(line["exit"]);
  compile.again = line["again"].boolean_or(false);
  compile.early = line["early"].boolean_or(false);
  compile.part = text_of(line["part"]);
  compile.parts = count_of(line["parts"]);
  compile.part_hits = count_of(line["part_hits"]);
  return compile;
}

MemorySample sample_of(const Value& line) {
  MemorySample sample;
  sample.at = bounded(line["at"], k_latest);
  sample.used = bytes_of(line["used"]);
  sample.reserved = bytes_of(line["reserved"]);
  sample.available = limit_of(line["available"]);
  sample.limit = limit_of(line["limit"]);
  sample.running = count_of(line["running"]);
  sample.waiting = count_of(line["waiting"]);
  sample.paused = count_of(line["paused"]);
  return sample;
}

Moment moment_of(const Value& line, std::string_view name) {
  return {bounded(line["at"], k_latest), bounded(line["seconds"], k_longest), text_of(line[name]),
          text_of(line["why"])};
}

CacheCounts cache_of(const Value& line) {
  CacheCounts counts;
  counts.hits = bytes_of(line["hits"]);
  counts.misses = bytes_of(line["misses"]);
  counts.uncacheable = bytes_of(line["uncacheable"]);
  counts.remote_hits = bytes_of(line["remote_hits"]);
  counts.errors = bytes_of(line["errors"]);
  counts.saved_seconds = bounded(line["saved_seconds"], k_latest);
  return counts;
}

// Returns false if the line lacks a field that its event requires.
bool take_line(const Value& line, BuildRecord& record) {
  const std::string* event = line["event"].text();
  if (event == nullptr) return false;
  if (*event == "build") {
    // Another governor may repeat it; the first one counts.
    if (record.name.empty()) record.name = text_of(line["name"]);
    if (record.node.empty()) record.node = text_of(line["node"]);
    if (record.id.empty()) record.id = text_of(line["id"]);
    record.cores = std::max<std::uint64_t>(record.cores, count_of(line["cores"]));
    record.jobs = count_of(line["jobs"]);
    record.memory = limit_of(line["memory"]);
    if (line["at"].is_number()) record.started = bounded(line["at"], k_latest);
    return true;
  }
  if (*event == "cache") {
    record.cache = cache_of(line);
    return true;
  }
  if (*event == "kept") {
    record.kept.push_back(compile_of(line));
    return true;
  }
  constexpr std::array k_timed{"compile", "part", "memory", "unreached", "ungoverned", "pause", "end"};
  if (std::find(k_timed.begin(), k_timed.end(), *event) == k_timed.end()) return true;  // an event of a later version
  if (!line["at"].is_number()) return false;
  if (*event == "compile") {
    Compile compile = compile_of(line);
    (compile.parts != 0 ? record.in_parts : record.compiles).push_back(std::move(compile));
  } else if (*event == "part") {
    Compile compile = compile_of(line);
    if (compile.part.empty()) return false;
    compile.name += ": " + compile.part;
    record.compiles.push_back(std::move(compile));
  } else if (*event == "memory") {
    record.samples.push_back(sample_of(line));
  } else if (*event == "unreached") {
    record.unreached.push_back(moment_of(line, "program"));
  } else if (*event == "ungoverned") {
    record.ungoverned.push_back(moment_of(line, "name"));
  } else if (*event == "pause") {
    record.pauses.push_back(moment_of(line, "name"));
  } else if (*event == "end") {
    record.ended = bounded(line["at"], k_latest);
    if (line["exit"].is_number()) record.exit = exit_of(line["exit"]);
  }
  return true;
}

void find_ends(BuildRecord& record) {
  const auto see = [&record](double from, double to) {
    if (record.started == 0 || from < record.started) record.started = from;
    record.ended = std::max(record.ended, to);
  };
  for (const Compile& compile : record.compiles) see(compile.start - compile.wait, compile.end());
  for (const MemorySample& sample : record.samples) see(sample.at, sample.at);
  for (const std::vector<Moment>* moments : {&record.unreached, &record.ungoverned, &record.pauses}) {
    for (const Moment& moment : *moments) see(moment.at, moment.at);
  }
  record.ended = std::max(record.ended, record.started);
}

}  // namespace

unsigned assign_slots(std::vector<Compile>& compiles) {
  std::stable_sort(compiles.begin(), compiles.end(),
                   [](const Compile& a, const Compile& b) { return a.start < b.start; });
  using Busy = std::pair<double, unsigned>;  // until, slot
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy;
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free;
  unsigned slots = 0;
  for (Compile& compile : compiles) {
    while (!busy.empty() && busy.top().first <= compile.start + k_same_moment) {
      free.push(busy.top().second);
      busy.pop();
    }
    if (free.empty()) {
      compile.slot = slots++;
    } else {
      compile.slot = free.top();
      free.pop();
    }
    busy.emplace(compile.end(), compile.slot);
  }
  return slots;
}

BuildRecord read_record(std::string_view text) {
  BuildRecord record;
  for (const std::string_view line : lines(text)) {
    if (trim(line).empty()) continue;
    bool good = false;
    try {
      good = take_line(document::parse_json(line, "record"), record);
    } catch (const Error&) {  // a partial line of a killed process, or not a record line
    }
    if (!good) ++record.skipped_lines;
  }
  record.slots = assign_slots(record.compiles);
  std::stable_sort(record.samples.begin(), record.samples.end(),
                   [](const MemorySample& a, const MemorySample& b) { return a.at < b.at; });
  find_ends(record);
  return record;
}

std::vector<MemorySample> merged_memory(std::span<const BuildRecord> records) {
  std::vector<std::pair<const MemorySample*, std::size_t>> all;
  for (std::size_t i = 0; i < records.size(); ++i) {
    for (const MemorySample& sample : records[i].samples) all.emplace_back(&sample, i);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first->at < b.first->at; });
  std::vector<const MemorySample*> last(records.size());
  std::vector<MemorySample> merged;
  merged.reserve(all.size());
  for (const auto& [sample, index] : all) {
    last[index] = sample;
    MemorySample sum = *sample;
    for (std::size_t i = 0; i < last.size(); ++i) {
      if (i == index || last[i] == nullptr || sample->at - last[i]->at > k_sample_holds) continue;
      sum.used += last[i]->used;
      sum.reserved += last[i]->reserved;
      sum.running += last[i]->running;
      sum.waiting += last[i]->waiting;
      sum.paused += last[i]->paused;
    }
    merged.push_back(sum);
  }
  return merged;
}

}  // namespace wheelsmith::report
