#include "report/build/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "document/finding_value.h"
#include "report/build/build_report.h"
#include "report/build/failure_block.h"
#include "report/plan/doctor_text.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;
using document::Value;

Value test_value(const run::TestOutcome& test) {
  Table table;
  table["id"] = test.id;
  table["outcome"] = run::to_string(test.outcome);
  table["why"] = test.why;
  return table;
}

constexpr double k_worth_telling = 0.5;  // seconds

double saved_by_cache(const std::vector<run::StepOutcome>& steps) {
  double seconds = 0;
  for (const run::StepOutcome& step : steps) seconds += step.cache.saved_seconds;
  return seconds;
}

bool used_cache(const std::vector<run::StepOutcome>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const run::StepOutcome& step) { return step.cache.any(); });
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
  if (used_cache(steps)) document["saved"] = saved_value(saved_by_cache(steps), closing.price);
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
    if (step.outcome == run::Outcome::failed && !was_interrupted(step)) text += failure_block(step, style);
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

std::string closing_text(const std::vector<run::StepOutcome>& steps, const Closing& closing, const Style& style) {
  std::string text;
  if (const double saved = saved_by_cache(steps); saved >= k_worth_telling)
    text += fmt::format("the compile cache saved {}\n", saved_text(saved, closing.price));
  if (!closing.checklist.empty()) text += style.bold("checklist") + "\n" + doctor_text(closing.checklist, style);
  if (!closing.runtime.empty()) text += style.bold("environment variables at run time") + "\n";
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
    const std::string result = test.outcome == run::TestResult::pass   ? style.green("pass")
                               : test.outcome == run::TestResult::fail ? style.red("fail")
                                                                       : style.yellow("not run");
    text += fmt::format("  {} {}{}\n", result, printable(test.id), test.why.empty() ? "" : ": " + printable(test.why));
  }
  for (const Finding& finding : item.findings)
    text +=
        fmt::format("  {} {}: {}\n", to_string(finding.severity), finding.id, style.wrap(printable(finding.what), 4));
  if (item.error.empty() && item.tests.empty()) text += "  the recipe has no tests\n";
  return text;
}

}  // namespace wheelsmith::report
