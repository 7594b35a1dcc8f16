#include "run/outcome.h"

#include <algorithm>

#include "base/error.h"
#include "document/finding_value.h"

namespace wheelsmith::run {

namespace {

using document::Array;
using document::Table;
using document::Value;

Severity severity_named(std::string_view name) {
  return name == "error" ? Severity::error : name == "warning" ? Severity::warning : Severity::note;
}

Value failure_value(const FirstFailure& failure) {
  Table table;
  table["command"] = failure.command;
  table["folder"] = failure.folder;
  table["output"] = failure.output;
  table["line"] = failure.line;
  table["product"] = failure.product;
  return table;
}

}  // namespace

std::string_view to_string(Outcome outcome) { return enum_name(outcome); }

std::string_view to_string(TestResult result) { return enum_name(result); }

bool all_made(const std::vector<StepOutcome>& outcomes) {
  return std::all_of(outcomes.begin(), outcomes.end(),
                     [](const StepOutcome& outcome) { return outcome.made() || outcome.optional; });
}

Value StepOutcome::to_value() const {
  Table table;
  table["id"] = id;
  table["package"] = package;
  table["key"] = key;
  table["outcome"] = run::to_string(outcome);
  table["wheel"] = wheel.string();
  if (!statement.empty()) table["statement"] = statement.string();
  if (!signatures.empty()) {
    Array files;
    for (const std::filesystem::path& signature : signatures) files.emplace_back(signature.string());
    table["signatures"] = std::move(files);
  }
  table["log"] = log.string();
  table["seconds"] = seconds;
  if (!node.empty()) table["node"] = node;
  table["cause"] = cause;
  table["phase"] = phase ? plan::to_string(*phase) : std::string_view();
  table["reason"] = reason;
  if (!kept_key.empty()) {
    Table kept;
    kept["key"] = kept_key;
    kept["rebuilt"] = Array(rebuilt.begin(), rebuilt.end());
    table["kept"] = std::move(kept);
  }
  table["replaced"] = replaced;
  table["optional"] = optional;
  if (editable) table["editable"] = true;
  if (artifact) {
    Table kept;
    kept["file_name"] = artifact->file_name;
    kept["sha256"] = artifact->sha256;
    kept["size"] = artifact->size;
    table["artifact"] = std::move(kept);
  }
  if (cache.any()) table["cache"] = cache.to_value();
  if (failure) table["failure"] = failure_value(*failure);
  if (diagnosis) table["diagnosis"] = diagnose::to_value(*diagnosis);
  if (!repeat_script.empty()) table["repeat_script"] = repeat_script.string();
  if (!refused_wheel.empty()) table["refused_wheel"] = refused_wheel.string();
  Array all_tests;
  for (const TestOutcome& test : tests) {
    Table item;
    item["id"] = test.id;
    item["outcome"] = run::to_string(test.outcome);
    item["why"] = test.why;
    all_tests.emplace_back(std::move(item));
  }
  table["tests"] = std::move(all_tests);
  Array all_findings;
  for (const Finding& finding : findings) all_findings.push_back(document::to_value(finding));
  table["findings"] = std::move(all_findings);
  return table;
}

StepOutcome StepOutcome::from_value(const Value& value) {
  StepOutcome outcome;
  outcome.id = value["id"].text_or();
  outcome.package = value["package"].text_or();
  outcome.key = value["key"].text_or();
  const auto word = enum_named<Outcome>(value["outcome"].text_or());
  if (!word) throw Error("unknown step outcome");
  outcome.outcome = *word;
  outcome.wheel = value["wheel"].text_or();
  outcome.statement = value["statement"].text_or();
  for (std::string& signature : value["signatures"].texts()) outcome.signatures.emplace_back(std::move(signature));
  outcome.log = value["log"].text_or();
  outcome.seconds = value["seconds"].number();
  outcome.node = value["node"].text_or();
  outcome.cause = value["cause"].text_or();
  outcome.phase = enum_named<plan::Phase>(value["phase"].text_or());
  outcome.reason = value["reason"].text_or();
  outcome.kept_key = value["kept"]["key"].text_or();
  outcome.rebuilt = value["kept"]["rebuilt"].texts();
  outcome.replaced = value["replaced"].boolean_or(false);
  outcome.optional = value["optional"].boolean_or(false);
  outcome.editable = value["editable"].boolean_or(false);
  if (const Value& kept = value["artifact"]; kept.table() != nullptr) {
    outcome.artifact = Artifact{kept["file_name"].text_or(), kept["sha256"].text_or(),
                                static_cast<std::uint64_t>(kept["size"].integer_or(0))};
  }
  outcome.cache = governor::CacheCounts::from_value(value["cache"]);
  if (const Value& failure = value["failure"]; failure.table() != nullptr) {
    outcome.failure =
        FirstFailure{failure["command"].text_or(), failure["folder"].text_or(), failure["output"].text_or(),
                     static_cast<std::uint64_t>(failure["line"].integer_or(0)), failure["product"].text_or()};
  }
  if (const Value& cause = value["diagnosis"]; cause.table() != nullptr)
    outcome.diagnosis = diagnose::cause_from(cause);
  outcome.repeat_script = value["repeat_script"].text_or();
  outcome.refused_wheel = value["refused_wheel"].text_or();
  if (const Array* tests = value["tests"].array()) {
    for (const Value& test : *tests)
      outcome.tests.push_back({test["id"].text_or(),
                               enum_named<TestResult>(test["outcome"].text_or()).value_or(TestResult::not_run),
                               test["why"].text_or()});
  }
  if (const Array* findings = value["findings"].array()) {
    for (const Value& item : *findings) {
      outcome.findings.push_back({item["id"].text_or(), severity_named(item["severity"].text_or()),
                                  item["subject"].text_or(), item["what"].text_or(), item["why"].text_or(),
                                  item["fix"].text_or()});
    }
  }
  return outcome;
}

}  // namespace wheelsmith::run
