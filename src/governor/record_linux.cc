#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "governor/model/admission.h"
#include "governor/record.h"
#include "sys/files.h"

namespace wheelsmith::governor {

namespace {

constexpr double k_most_seconds = 1e9;
constexpr std::size_t k_longest_field = 4096;
constexpr std::uint64_t k_largest_record = 1ULL << 30;

double bounded_seconds(const document::Value& value) {
  const double seconds = value.number();
  return std::isfinite(seconds) ? std::clamp(seconds, 0.0, k_most_seconds) : 0;
}

// The line of a compile.
void add_compile(const document::Value& value, Summary& summary, bool part) {
  const auto outcome = enum_named<Outcome>(value["outcome"].text_or());
  if (outcome == Outcome::out_of_memory && value["again"].boolean_or(false)) ++summary.tried_again;
  if (outcome == Outcome::set_back) ++summary.set_back;
  const bool failed = outcome == Outcome::failed || outcome == Outcome::lost;
  if (!part && (outcome == Outcome::done || failed)) ++summary.compiles;
  if (!part && failed) ++summary.failed;
  if (!part && outcome == Outcome::done) ++summary.origins[static_cast<std::size_t>(origin_of(value))];
  if ((outcome == Outcome::done || failed) && value["node"].text() != nullptr) ++summary.elsewhere;
  if (value["paused"].number() > 0) ++summary.paused;
  if (!part && (outcome == Outcome::done || outcome == Outcome::failed)) {
    const auto cache = enum_named<CacheUse>(value["cache"].text_or());
    if (cache == CacheUse::hit) ++summary.cache.hits;
    if (cache == CacheUse::miss) ++summary.cache.misses;
    if (cache == CacheUse::pass) ++summary.cache.uncacheable;
    if (cache != CacheUse::hit && cache != CacheUse::miss && value["kind"].text_or() != "link") ++summary.unreported;
    if (value["remote"].boolean_or(false)) ++summary.cache.remote_hits;
    summary.cache.saved_seconds += bounded_seconds(value["saved"]);
    if (value["remote_failed"].boolean_or(false)) ++summary.cache.errors;
  }
  const auto peak = static_cast<std::uint64_t>(std::max<std::int64_t>(0, value["peak"].integer_or(0)));
  if (peak > summary.largest) {
    summary.largest = peak;
    summary.largest_name = value["name"].text_or();
  }
  const auto why = enum_named<Why>(value["why"].text_or());
  if (why == Why::memory || why == Why::pressure || why == Why::alone)
    summary.waited_for_memory += value["wait"].number();
  if (why == Why::cores || why == Why::jobs) summary.waited_for_cores += value["wait"].number();
  // The time of a compile in parts is that of its parts.
  if (value["parts"].number() <= 0) summary.compile_seconds += value["seconds"].number();
}

}  // namespace

Origin origin_of(CacheUse use, bool remote, std::uint64_t part_hits) {
  if (use == CacheUse::hit) return remote ? Origin::remote_cache : Origin::cache;
  return part_hits != 0 ? Origin::parts : Origin::compiled;
}

Origin origin_of(const document::Value& line) {
  if (const auto named = enum_named<Origin>(line["origin"].text_or()); named && *named != Origin::unknown)
    return *named;
  if (enum_named<Outcome>(line["outcome"].text_or()) != Outcome::done) return Origin::unknown;
  return origin_of(enum_named<CacheUse>(line["cache"].text_or()).value_or(CacheUse::none),
                   line["remote"].boolean_or(false),
                   static_cast<std::uint64_t>(std::max<std::int64_t>(0, line["part_hits"].integer_or(0))));
}

bool append_record(const std::filesystem::path& file, const document::Table& line) {
  return !file.empty() && !sys::append_text(file, document::to_json(line, -1) + "\n");
}

document::Value CacheCounts::to_value() const {
  document::Table table;
  table["hits"] = hits;
  table["misses"] = misses;
  table["uncacheable"] = uncacheable;
  table["remote_hits"] = remote_hits;
  table["errors"] = errors;
  table["saved_seconds"] = std::round(saved_seconds * 1000) / 1000;
  return table;
}

CacheCounts CacheCounts::from_value(const document::Value& value) {
  const auto count = [&value](const char* name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, value[name].integer_or(0)));
  };
  return {count("hits"),        count("misses"), count("uncacheable"),
          count("remote_hits"), count("errors"), bounded_seconds(value["saved_seconds"])};
}

std::string seconds_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string CacheCounts::to_text() const {
  std::string text = fmt::format("{} of {} from the cache", hits, hits + misses);
  if (remote_hits != 0) text += fmt::format(" ({} from the remote storage)", remote_hits);
  if (saved_seconds >= 0.5) text += fmt::format(", {} of CPU time saved", seconds_text(saved_seconds));
  if (uncacheable != 0) text += fmt::format(", {} uncacheable", uncacheable);
  if (errors != 0) text += fmt::format(", the remote storage failed {} time{}", errors, errors == 1 ? "" : "s");
  return text;
}

document::Value run_value(const Summary& summary, const std::filesystem::path& record, int exit) {
  document::Value document = summary.to_value();
  (*document.table())["record"] = record.string();
  (*document.table())["exit"] = exit;
  return document;
}

document::Value Summary::to_value() const {
  document::Table table;
  table["schema"] = 1;
  table["compiles"] = compiles;
  table["failed"] = failed;
  table["tried_again"] = tried_again;
  table["set_back"] = set_back;
  table["paused"] = paused;
  table["ungoverned"] = ungoverned;
  if (elsewhere + node_failures != 0) {
    table["elsewhere"] = elsewhere;
    table["node_failures"] = node_failures;
  }
  table["largest"] = largest;
  table["largest_name"] = largest_name;
  table["most_used"] = most_used;
  table["limit"] = limit;
  table["waited_for_memory"] = waited_for_memory;
  table["waited_for_cores"] = waited_for_cores;
  table["compile_seconds"] = compile_seconds;
  table["unreached"] = document::Array(unreached.begin(), unreached.end());
  document::Table sums;
  for (std::size_t i = 1; i < origins.size(); ++i) sums[std::string(enum_name(static_cast<Origin>(i)))] = origins[i];
  table["origins"] = std::move(sums);
  if (cache.any()) table["cache"] = cache.to_value();
  if (!cache_problem.empty()) table["cache_problem"] = cache_problem;
  return table;
}

std::string Summary::to_text() const {
  std::string text = fmt::format("{} compile{}", compiles, compiles == 1 ? "" : "s");
  if (cache.any()) text += ", " + cache.to_text();
  const std::uint64_t kept = origins[static_cast<std::size_t>(Origin::tree)];
  if (kept != 0) text += fmt::format(", {} kept from an earlier attempt", kept);
  if (elsewhere != 0) text += fmt::format(", {} on other nodes", elsewhere);
  if (node_failures != 0) text += fmt::format(", {} repeated after a node failed", node_failures);
  if (failed != 0) text += fmt::format(", {} failed", failed);
  if (tried_again != 0) text += fmt::format(", {} retried after running out of memory", tried_again);
  if (set_back != 0) text += fmt::format(", {} preempted", set_back);
  if (paused != 0) text += fmt::format(", {} paused temporarily", paused);
  if (largest != 0) text += fmt::format("; largest {} ({})", human_bytes(largest), printable(largest_name));
  if (most_used != 0) text += fmt::format("; at most {} of {} at once", human_bytes(most_used), human_bytes(limit));
  if (waited_for_memory >= 0.5) text += fmt::format("; {:.0f} s waiting for memory", waited_for_memory);
  if (ungoverned != 0) text += fmt::format("; {} without a governor", ungoverned);
  if (!unreached.empty()) {
    std::vector<std::string> names;
    for (const std::string& path : unreached) names.push_back(printable(path));
    text += "; not governed: " + join(names, ", ");
  }
  if (!cache_problem.empty()) text += "; no compile cache: " + cache_problem;
  return text;
}

namespace {

// "unit1.o of src/unit1.cc", and nothing for lines of other events.
std::string unit_of_line(const document::Value& line) {
  const std::string event = line["event"].text_or();
  if (event != "compile" && event != "kept") return "";
  if (line["kind"].text_or() == "link") return "";
  // Probes of CMake and autoconf are no units; the names of the former are random.
  const std::string output = line["output"].text_or();
  if (output.find("cmTC_") != output.npos || output.find("conftest") != output.npos) return "";
  return output + "\n" + line["name"].text_or();
}

}  // namespace

std::vector<document::Table> kept_lines(const std::filesystem::path& record,
                                        const std::vector<std::filesystem::path>& earlier) {
  std::map<std::string, document::Table> units;
  const auto read = [&](const std::filesystem::path& file, bool is_this) {
    const auto text = sys::read_file_if_possible(file, k_largest_record);
    if (!text) return;  // removed by gc
    for (const std::string_view text_line : lines(*text)) {
      const auto line = document::try_parse_json(text_line);
      const std::string unit = line ? unit_of_line(*line) : "";
      if (unit.empty()) continue;
      units.erase(unit);
      const bool done = enum_named<Outcome>((*line)["outcome"].text_or()) == Outcome::done;
      if (is_this || !(done || (*line)["event"].text_or() == "kept")) continue;
      document::Table kept;
      kept["event"] = "kept";
      for (const char* name : {"kind", "name", "output", "unit", "family"})
        kept[name] = to_valid_utf8((*line)[name].text_or()).substr(0, k_longest_field);
      kept["seconds"] = bounded_seconds((*line)["seconds"]);
      if (const double cpu = bounded_seconds((*line)["cpu"]); cpu > 0) kept["cpu"] = cpu;
      kept["origin"] = enum_name(Origin::tree);
      units.emplace(unit, std::move(kept));
    }
  };
  for (const std::filesystem::path& file : earlier) read(file, false);
  read(record, true);
  std::vector<document::Table> result;
  for (auto& [unit, line] : units) result.push_back(std::move(line));
  return result;
}

Summary summarize(const std::filesystem::path& record) {
  Summary summary;
  const auto text = sys::read_file_if_there(record);
  if (!text) return summary;
  for (const std::string_view line : lines(*text)) {
    const auto parsed = document::try_parse_json(line);
    if (!parsed) continue;  // the last line of a killed build
    const document::Value& value = *parsed;
    const std::string event = value["event"].text_or();
    if (event == "build") summary.cache_problem = value["cache_problem"].text_or();
    if (event == "compile" || event == "part") {
      add_compile(value, summary, event == "part");
    } else if (event == "kept") {
      ++summary.origins[static_cast<std::size_t>(Origin::tree)];
    } else if (event == "memory") {
      const auto used = static_cast<std::uint64_t>(std::max<std::int64_t>(0, value["used"].integer_or(0)));
      summary.most_used = std::max(summary.most_used, used);
      summary.limit = static_cast<std::uint64_t>(std::max<std::int64_t>(0, value["limit"].integer_or(0)));
    } else if (event == "ungoverned") {
      ++summary.ungoverned;
    } else if (event == "node-failed") {
      ++summary.node_failures;
    } else if (event == "unreached") {
      const std::string program = value["program"].text_or();
      if (std::find(summary.unreached.begin(), summary.unreached.end(), program) == summary.unreached.end())
        summary.unreached.push_back(program);
    }
  }
  return summary;
}

}  // namespace wheelsmith::governor
