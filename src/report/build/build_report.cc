#include "report/build/build_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "governor/record.h"
#include "gpu/arch.h"

// The report as a JSON document. All totals are computed here, so that the page, `--json` and the tests agree.

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Member;
using document::Table;
using document::Value;

// Rounds to 0.1 ms, which is precise enough for the page.
double rounded(double seconds) { return std::round(seconds * 1e4) / 1e4; }

Value to_value(const Compile& compile, std::size_t record, double origin) {
  return Table(std::vector<Member>{{"record", record},
                                   {"slot", compile.slot},
                                   {"start", rounded(compile.start - origin)},
                                   {"seconds", rounded(compile.seconds)},
                                   {"wait", rounded(compile.wait)},
                                   {"why", compile.why},
                                   {"paused", rounded(compile.paused)},
                                   {"peak", compile.peak},
                                   {"reserved", compile.reserved},
                                   {"estimate", compile.estimate},
                                   {"from", compile.from},
                                   {"kind", compile.kind},
                                   {"name", compile.name},
                                   {"output", compile.output},
                                   {"unit", compile.unit},
                                   {"family", compile.family},
                                   {"threads", compile.threads},
                                   {"try", compile.tries},
                                   {"outcome", compile.outcome},
                                   {"again", compile.again},
                                   {"early", compile.early},
                                   {"exit", compile.exit},
                                   {"cache", compile.cache},
                                   {"origin", compile.origin},
                                   {"cpu", rounded(compile.cpu)},
                                   {"saved", rounded(compile.saved)},
                                   {"part", compile.part},
                                   {"parts", compile.parts},
                                   {"part_hits", compile.part_hits}});
}

// A compile of an earlier attempt has no place on this build's time axis.
Value kept_value(const Compile& compile, std::size_t record) {
  return Table(std::vector<Member>{{"record", record},
                                   {"name", compile.name},
                                   {"output", compile.output},
                                   {"kind", compile.kind},
                                   {"unit", compile.unit},
                                   {"family", compile.family},
                                   {"seconds", rounded(compile.seconds)},
                                   {"cpu", rounded(compile.cpu)},
                                   {"origin", compile.origin}});
}

Value to_value(const MemorySample& sample, double origin) {
  return Table(std::vector<Member>{{"at", rounded(sample.at - origin)},
                                   {"used", sample.used},
                                   {"reserved", sample.reserved},
                                   {"available", sample.available},
                                   {"limit", sample.limit},
                                   {"running", sample.running},
                                   {"waiting", sample.waiting},
                                   {"paused", sample.paused}});
}

Value to_value(const std::vector<Moment>& moments, double origin) {
  Array list;
  for (const Moment& moment : moments) {
    list.emplace_back(Table(std::vector<Member>{{"at", rounded(moment.at - origin)},
                                                {"seconds", rounded(moment.seconds)},
                                                {"name", moment.name},
                                                {"why", moment.why}}));
  }
  return list;
}

Value to_value(const CacheCounts& counts) {
  return Table(std::vector<Member>{{"hits", counts.hits},
                                   {"misses", counts.misses},
                                   {"uncacheable", counts.uncacheable},
                                   {"remote_hits", counts.remote_hits},
                                   {"errors", counts.errors},
                                   {"saved_seconds", rounded(counts.saved_seconds)}});
}

Value to_value(const BuildRecord& record, double origin) {
  Table table(std::vector<Member>{{"name", record.name},
                                  {"node", record.node},
                                  {"id", record.id},
                                  {"cores", record.cores},
                                  {"jobs", record.jobs},
                                  {"memory", record.memory},
                                  {"slots", record.slots},
                                  {"compiles", record.compiles.size() + record.in_parts.size()},
                                  {"start", rounded(std::max(0.0, record.started - origin))},
                                  {"seconds", rounded(record.ended - record.started)},
                                  {"skipped_lines", record.skipped_lines}});
  table["exit"] = Value();
  if (record.exit) table["exit"] = *record.exit;
  table["cache"] = Value();
  if (record.cache) table["cache"] = to_value(*record.cache);
  table["unreached"] = to_value(record.unreached, origin);
  table["ungoverned"] = to_value(record.ungoverned, origin);
  table["pauses"] = to_value(record.pauses, origin);
  return table;
}

Value to_value(const WheelSizes& wheel) {
  Table table(std::vector<Member>{{"step", wheel.step}, {"path", wheel.path}});
  if (!wheel.error.empty()) {
    table["error"] = wheel.error;
    return table;
  }
  table["size"] = wheel.size;
  table["unpacked_size"] = wheel.unpacked_size;
  table["file_count"] = wheel.file_count;
  // One entry per architecture and kind, regardless of the section.
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> sums;
  for (const gpu::CodeSum& sum : wheel.gpu) {
    const std::pair<std::string, std::string> key{gpu::display_name(sum.arch, sum.kind),
                                                  std::string(gpu::to_string(sum.kind))};
    if (!sums.contains(key)) order.push_back(key);
    sums[key].first += sum.bytes;
    sums[key].second += sum.unpacked_bytes;
  }
  Array archs;
  for (const auto& key : order) {
    archs.emplace_back(Table(std::vector<Member>{
        {"arch", key.first}, {"kind", key.second}, {"bytes", sums[key].first}, {"unpacked_bytes", sums[key].second}}));
  }
  table["archs"] = std::move(archs);
  return table;
}

Value summary_of(const BuildReport& report, const std::vector<MemorySample>& memory) {
  std::uint64_t compiles = 0, failed = 0, tried_again = 0, set_back = 0, paused = 0, largest = 0, most_used = 0,
                limit = 0;
  std::uint64_t ungoverned = 0, unreached = 0;
  double seconds = 0, paused_seconds = 0;
  std::string largest_name;
  double saved = 0;
  // By name; a failed compile has none.
  std::map<std::string, std::uint64_t> origins;
  for (const char* name : {"compiled", "cache", "remote-cache", "parts", "tree"}) origins[name] = 0;
  const auto count_origin = [&](const Compile& compile) {
    saved += compile.saved;
    if (const auto found = origins.find(compile.origin); found != origins.end()) ++found->second;
  };
  std::map<std::string, std::pair<std::uint64_t, double>> waits;
  for (const BuildRecord& record : report.records) {
    ungoverned += record.ungoverned.size();
    unreached += record.unreached.size();
    for (const Compile& compile : record.kept) count_origin(compile);
    for (const Compile& compile : record.in_parts) {
      ++compiles;
      count_origin(compile);
      failed += compile.outcome != "done" ? 1 : 0;
    }
    for (const Compile& compile : record.compiles) {
      // An attempt that is followed by another one is not counted as a compile.
      const bool last = compile.outcome != "set-back" && !compile.again && compile.part.empty();
      compiles += last ? 1 : 0;
      if (last) count_origin(compile);
      failed += last && compile.outcome != "done" ? 1 : 0;
      tried_again += compile.outcome == "out-of-memory" && compile.again ? 1 : 0;
      set_back += compile.outcome == "set-back" ? 1 : 0;
      paused += compile.paused > 0 ? 1 : 0;
      paused_seconds += compile.paused;
      seconds += compile.seconds;
      if (compile.peak > largest) {
        largest = compile.peak;
        largest_name = compile.name;
      }
      if (compile.wait <= 0) continue;
      auto& [count, sum] = waits[compile.why];
      ++count;
      sum += compile.wait;
    }
  }
  for (const MemorySample& sample : memory) {
    most_used = std::max(most_used, sample.used);
    limit = std::max(limit, sample.limit);
  }
  Array reasons;
  for (const auto& [why, sum] : waits) {
    reasons.emplace_back(
        Table(std::vector<Member>{{"why", why}, {"compiles", sum.first}, {"seconds", rounded(sum.second)}}));
  }
  Table sums;
  for (const auto& [name, count] : origins) sums[name] = count;
  return Table(std::vector<Member>{{"compiles", compiles},
                                   {"origins", std::move(sums)},
                                   {"saved", saved_value(saved, report.price)},
                                   {"failed", failed},
                                   {"tried_again", tried_again},
                                   {"set_back", set_back},
                                   {"paused", paused},
                                   {"paused_seconds", rounded(paused_seconds)},
                                   {"compile_seconds", rounded(seconds)},
                                   {"largest", largest},
                                   {"largest_name", largest_name},
                                   {"most_used", most_used},
                                   {"limit", limit},
                                   {"ungoverned", ungoverned},
                                   {"unreached", unreached},
                                   {"waits", std::move(reasons)}});
}

// "failed", "good", or "" if unknown.
std::string verdict_of(const BuildReport& report) {
  std::string verdict;
  for (const run::StepOutcome& step : report.steps) {
    if (step.outcome == run::Outcome::failed && !step.optional) return "failed";
    verdict = "good";
  }
  if (!verdict.empty()) return verdict;
  for (const BuildRecord& record : report.records) {
    if (record.exit && *record.exit != 0) return "failed";
    if (record.exit) verdict = "good";
  }
  return verdict;
}

}  // namespace

double BuildReport::started() const {
  double first = 0;
  for (const BuildRecord& record : records) {
    if (record.started != 0 && (first == 0 || record.started < first)) first = record.started;
  }
  return first;
}

double BuildReport::seconds() const {
  double last = 0;
  for (const BuildRecord& record : records) last = std::max(last, record.ended);
  return std::max(0.0, last - started());
}

Value to_value(const BuildReport& report) {
  const double origin = report.started();
  const std::vector<MemorySample> memory = merged_memory(report.records);
  Table document;
  document["schema"] = 1;
  document["title"] = report.title;
  document["verdict"] = verdict_of(report);
  document["started"] = rounded(origin);
  document["seconds"] = rounded(report.seconds());
  document["summary"] = summary_of(report, memory);
  Array records, compiles, in_parts, kept, samples, steps, wheels;
  for (std::size_t i = 0; i < report.records.size(); ++i) {
    records.push_back(to_value(report.records[i], origin));
    for (const Compile& compile : report.records[i].compiles) compiles.push_back(to_value(compile, i, origin));
    for (const Compile& compile : report.records[i].in_parts) in_parts.push_back(to_value(compile, i, origin));
    for (const Compile& compile : report.records[i].kept) kept.push_back(kept_value(compile, i));
  }
  for (const MemorySample& sample : memory) samples.push_back(to_value(sample, origin));
  for (const run::StepOutcome& step : report.steps) steps.push_back(step.to_value());
  for (const WheelSizes& wheel : report.wheels) wheels.push_back(to_value(wheel));
  document["records"] = std::move(records);
  document["steps"] = std::move(steps);
  document["wheels"] = std::move(wheels);
  document["memory"] = std::move(samples);
  document["compiles"] = std::move(compiles);
  document["in_parts"] = std::move(in_parts);
  document["kept"] = std::move(kept);
  return document;
}

Value saved_value(double seconds, const std::optional<settings::Price>& price) {
  Table table;
  table["seconds"] = rounded(seconds);
  if (price) {
    table["amount"] = std::round(seconds / 3600 * price->per_core_hour * 1e6) / 1e6;
    table["currency"] = price->currency;
  }
  return table;
}

std::string saved_text(double seconds, const std::optional<settings::Price>& price) {
  std::string text = governor::seconds_text(seconds) + " of CPU time";
  if (!price) return text;
  const double amount = seconds / 3600 * price->per_core_hour;
  text += amount < 0.1 ? fmt::format(" ({:.2g}", amount) : fmt::format(" ({:.2f}", amount);
  return text + (price->currency.empty() ? ")" : " " + price->currency + ")");
}

std::string to_json(const BuildReport& report) { return document::to_json(to_value(report)) + "\n"; }

}  // namespace wheelsmith::report
