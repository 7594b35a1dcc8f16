// What a step's process says, as lines of JSON: to the executor that started it, through a pipe or a file.

#include "base/error.h"
#include "run/executor.h"

namespace wheelsmith::run {

std::string report_line(const Event& event) {
  document::Table table;
  table["event"] = enum_name(event.kind);
  if (!event.text.empty()) table["text"] = event.text;
  if (event.total != 0) {
    table["done"] = event.done;
    table["total"] = event.total;
  }
  if (event.outcome != nullptr) table["outcome"] = event.outcome->to_value();
  return document::to_json(table, -1) + "\n";
}

Report parse_report(std::string_view line) {
  const document::Value value = document::parse_json(line, "a step's report");
  const auto kind = enum_named<Event::Kind>(value["event"].text_or());
  if (!kind) throw Error("a step's report of an unknown kind");
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
  return report;
}

}  // namespace wheelsmith::run
