#include "report/diagnosis.h"

#include <fmt/format.h>

#include "base/text.h"

namespace wheelsmith::report {

namespace {

using diagnose::Cause;
using document::Array;
using document::Table;
using document::Value;

constexpr std::size_t k_longest_command = 500;
constexpr std::size_t k_most_sources = 3;

}  // namespace

std::string to_json(const std::vector<DiagnosedLog>& items) {
  Array list;
  for (const DiagnosedLog& item : items) {
    Table table;
    table["path"] = item.path;
    if (!item.error.empty()) {
      table["error"] = item.error;
      list.emplace_back(std::move(table));
      continue;
    }
    const diagnose::Diagnosis& diagnosis = item.diagnosis;
    table["verdict"] = diagnosis.failed ? "failed" : "no-failure";
    table["cause"] = diagnosis.cause ? diagnose::to_value(*diagnosis.cause) : Value();
    table["command"] = diagnosis.command;
    table["lines"] = diagnosis.lines;
    table["complete"] = item.complete;
    Array further;
    for (const Cause& cause : diagnosis.further) further.push_back(diagnose::to_value(cause));
    table["further"] = std::move(further);
    list.emplace_back(std::move(table));
  }
  Table document;
  document["schema"] = 1;
  document["items"] = std::move(list);
  return document::to_json(document) + "\n";
}

std::string cause_text(const Cause& cause, const Style& style, std::size_t indent) {
  const std::string blanks(indent, ' ');
  std::string text = blanks + style.bold(style.wrap(printable(cause.what), indent)) +
                     style.dim(fmt::format("  [{}, {}, {}]", cause.kind, cause.id, cause.sure)) + "\n";
  for (const diagnose::Quote& quote : cause.why) {
    text += blanks + style.dim(fmt::format("line {}: ", quote.line)) + printable(quote.text) + "\n";
  }
  if (!cause.command.empty()) {
    const std::string command =
        cause.command.size() > k_longest_command ? cause.command.substr(0, k_longest_command) + " …" : cause.command;
    text += blanks + style.dim("command: ") + printable(command) + "\n";
  }
  for (const std::string& fix : cause.fixes) {
    text += blanks + style.green("fix: ") + style.wrap(printable(fix), indent + 5) + "\n";
  }
  // Public reports of this failure: the first few, all with --all. Sources that are not public threads or pages are not
  // shown.
  std::vector<std::string> reports;
  for (const std::string& source : cause.sources) {
    const bool elsewhere =
        source.find('#') != source.npos || source.find("PR ") != source.npos || source.starts_with("http");
    if (style.details || (elsewhere && reports.size() < k_most_sources)) reports.push_back(source);
  }
  if (!reports.empty())
    text += blanks + style.dim("seen in: ") + style.wrap(printable(join(reports, ", ")), indent + 9) + "\n";
  if (style.details && !cause.check.empty())
    text += blanks + style.dim("predicted by: ") + "wheelsmith doctor, check " + printable(cause.check) + "\n";
  return text;
}

std::string to_text(const DiagnosedLog& item, const Style& style) {
  const std::string name = style.bold(printable(item.path)) + ": ";
  if (!item.error.empty()) return name + style.red("not read") + ": " + printable(item.error) + "\n";
  const diagnose::Diagnosis& diagnosis = item.diagnosis;
  const std::string stopped = item.complete ? "" : ", interrupted before the end";
  if (!diagnosis.failed)
    return name + style.green("no failure found") +
           style.dim(fmt::format(" in {}{}", counted(diagnosis.lines, "line"), stopped)) + "\n";
  std::string text =
      name + style.red("failed") + style.dim(fmt::format(" ({}{})", counted(diagnosis.lines, "line"), stopped)) + "\n";
  if (diagnosis.cause) text += cause_text(*diagnosis.cause, style, 2);
  if (diagnosis.further.empty()) return text;
  if (!style.details)
    return text + "  " +
           style.dim(fmt::format("{} further finding{}; use --all to show", diagnosis.further.size(),
                                 diagnosis.further.size() == 1 ? "" : "s")) +
           "\n";
  text += "  " + style.dim("further findings:") + "\n";
  for (const Cause& cause : diagnosis.further) text += cause_text(cause, style, 4);
  return text;
}

}  // namespace wheelsmith::report
