#include "report/build/build.h"

#include <fmt/format.h>

#include "base/text.h"
#include "document/finding_value.h"
#include "report/diagnosis.h"
#include "report/plan/doctor_text.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;
using document::Value;

constexpr std::size_t k_most_lines = 40;

Value test_value(const run::TestOutcome& test) {
  Table table;
  table["id"] = test.id;
  table["outcome"] = run::to_string(test.outcome);
  table["why"] = test.why;
  return table;
}

// The first lines say what is wrong, the last how it ended.
std::string shortened(const std::string& output, const Style& style) {
  const std::vector<std::string_view> all = lines(output);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!style.details && all.size() > k_most_lines && i == k_most_lines / 2) {
      const std::size_t left_out = all.size() - k_most_lines;
      text += style.dim(fmt::format("    … {} left out (the log has them)\n", counted(left_out, "line")));
      i += left_out;
    }
    text += "    " + printable(all[i]) + "\n";
  }
  return text;
}

std::string failure_text(const run::StepOutcome& step, const Style& style) {
  std::string text = fmt::format("\n{} {}, in phase {}\n  {}\n", style.red("failed"), style.bold(step.id),
                                 step.phase ? plan::to_string(*step.phase) : "start", printable(step.cause));
  if (step.failure) {
    if (!step.failure->command.empty())
      text += fmt::format("  first command that failed (line {} of the log):\n    {}\n", step.failure->line,
                          style.wrap(printable(step.failure->command), 4));
    text += "  it printed:\n" + shortened(step.failure->output, style);
  }
  if (step.diagnosis) text += "  what caused it:\n" + cause_text(*step.diagnosis, style, 4);
  for (const Finding& finding : step.findings) {
    if (finding.severity != Severity::error) continue;
    text += fmt::format("  {} {}: {}\n", style.red(finding.id), printable(finding.subject),
                        style.wrap(printable(finding.what), 4));
    if (!finding.fix.empty()) text += fmt::format("    fix: {}\n", style.wrap(printable(finding.fix), 10));
  }
  if (!step.log.empty()) text += fmt::format("  log: {}\n", step.log.string());
  if (!step.repeat_script.empty()) text += fmt::format("  repeat just that command: {}\n", step.repeat_script.string());
  return text;
}

}  // namespace

std::string build_json(const std::vector<run::StepOutcome>& steps, const std::vector<std::string>& notes,
                       const Closing& closing) {
  Table document;
  document["schema"] = 1;
  Array items;
  for (const run::StepOutcome& step : steps) items.push_back(step.to_value());
  document["steps"] = std::move(items);
  document["notes"] = Array(notes.begin(), notes.end());
  Array checklist, runtime;
  for (const doctor::Check& check : closing.checklist) {
    Table table;
    table["id"] = check.id;
    table["state"] = std::string(doctor::to_string(check.state));
    table["found"] = check.found;
    table["wanted"] = check.wanted;
    table["why"] = check.why;
    table["fix"] = check.fix;
    checklist.emplace_back(std::move(table));
  }
  for (const recipe::RuntimeVariable& variable : closing.runtime) {
    Table table;
    table["variable"] = variable.variable;
    table["value"] = variable.value;
    table["why"] = variable.why;
    runtime.emplace_back(std::move(table));
  }
  document["checklist"] = std::move(checklist);
  document["runtime"] = std::move(runtime);
  return document::to_json(document) + "\n";
}

std::string tests_json(const std::vector<run::WheelTest>& items) {
  Table document;
  document["schema"] = 1;
  Array list;
  for (const run::WheelTest& item : items) {
    Table table;
    table["path"] = item.path;
    table["verdict"] = item.good() ? "good" : "bad";
    if (!item.error.empty()) table["error"] = item.error;
    Array tests;
    for (const run::TestOutcome& test : item.tests) tests.push_back(test_value(test));
    table["tests"] = std::move(tests);
    Array findings;
    for (const Finding& finding : item.findings) findings.push_back(document::to_value(finding));
    table["findings"] = std::move(findings);
    list.emplace_back(std::move(table));
  }
  document["items"] = std::move(list);
  return document::to_json(document) + "\n";
}

std::string build_text(const std::vector<run::StepOutcome>& steps, const Style& style) {
  std::map<std::string, std::size_t> counts;
  std::string text;
  for (const run::StepOutcome& step : steps) {
    ++counts[was_interrupted(step) ? "interrupted" : std::string(run::to_string(step.outcome))];
    if (step.outcome == run::Outcome::failed && !was_interrupted(step)) text += failure_text(step, style);
  }
  for (const run::StepOutcome& step : steps) {
    for (const run::TestOutcome& test : step.tests) {
      if (test.outcome == run::TestResult::not_run)
        text += fmt::format("{}: test {} not run: {}\n", step.id, test.id, test.why);
    }
  }
  std::string sum;
  for (const auto& [outcome, count] : counts) sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", count, outcome);
  return text + sum + "\n";
}

std::string closing_text(const Closing& closing, const Style& style) {
  std::string text;
  if (!closing.checklist.empty()) text += style.bold("checklist") + "\n" + doctor_text(closing.checklist, style);
  if (!closing.runtime.empty()) text += style.bold("when it runs") + "\n";
  for (const recipe::RuntimeVariable& variable : closing.runtime) {
    text += fmt::format("  {}={}  {}\n", variable.variable, printable(variable.value),
                        style.dim(style.wrap(printable(variable.why), 4)));
  }
  return text;
}

std::string test_text(const run::WheelTest& item, const Style& style) {
  std::string text =
      fmt::format("{} {}\n", item.good() ? style.green("good") : style.red("bad"), style.bold(printable(item.path)));
  if (!item.error.empty()) text += "  " + printable(item.error) + "\n";
  for (const run::TestOutcome& test : item.tests) {
    const std::string word = test.outcome == run::TestResult::pass   ? style.green("pass")
                             : test.outcome == run::TestResult::fail ? style.red("fail")
                                                                     : style.yellow("not run");
    text += fmt::format("  {} {}{}\n", word, printable(test.id), test.why.empty() ? "" : ": " + printable(test.why));
  }
  for (const Finding& finding : item.findings)
    text +=
        fmt::format("  {} {}: {}\n", to_string(finding.severity), finding.id, style.wrap(printable(finding.what), 4));
  if (item.error.empty() && item.tests.empty()) text += "  the recipe has no tests\n";
  return text;
}

}  // namespace wheelsmith::report
