// Events of a step's process as lines of JSON, sent through a pipe or a file to the executor that started it.

#include <algorithm>

#include "base/error.h"
#include "run/executor.h"

namespace wheelsmith::run {

namespace {

document::Value to_value(const CompileStatus& compiles) {
  document::Table table;
  table["running"] = compiles.running;
  table["finished"] = compiles.finished;
  table["used"] = compiles.used;
  table["limit"] = compiles.limit;
  table["hits"] = compiles.hits;
  table["lookups"] = compiles.lookups;
  table["unit"] = compiles.unit;
  table["waits_for"] = compiles.waits_for;
  return table;
}

CompileStatus to_compiles(const document::Value& value) {
  const auto number = [&value](std::string_view name) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value[name].integer_or(0), 0));
  };
  return {.running = number("running"),
          .finished = number("finished"),
          .used = number("used"),
          .limit = number("limit"),
          .hits = number("hits"),
          .lookups = number("lookups"),
          .unit = value["unit"].text_or(),
          .waits_for = value["waits_for"].text_or()};
}

}  // namespace

std::string report_line(const Event& event) {
  document::Table table;
  table["event"] = enum_name(event.kind);
  if (!event.text.empty()) table["text"] = event.text;
  if (event.total != 0) {
    table["done"] = event.done;
    table["total"] = event.total;
  }
  if (event.kind == Event::Kind::compiling || event.kind == Event::Kind::usage)
    table["compiles"] = to_value(event.compiles);
  if (event.outcome != nullptr) table["outcome"] = event.outcome->to_value();
  return document::to_json(table, -1) + "\n";
}

Report parse_report(std::string_view line) {
  const document::Value value = document::parse_json(line, "a step's report");
  const auto kind = enum_named<Event::Kind>(value["event"].text_or());
  if (!kind) throw Error("unknown event in a step's report");
  Report report;
  if (*kind == Event::Kind::finished) {
    report.kind = Report::Kind::finished;
    report.outcome = StepOutcome::from_value(value["outcome"]);
    return report;
  }
  report.event.kind = *kind;
  report.event.text = value["text"].text_or();
  report.event.done = static_cast<std::uint64_t>(value["done"].integer_or(0));
  report.event.total = static_cast<std::uint64_t>(value["total"].integer_or(0));
  report.event.compiles = to_compiles(value["compiles"]);
  return report;
}

}  // namespace wheelsmith::run
