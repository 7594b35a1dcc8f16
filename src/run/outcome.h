#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.h"
#include "base/finding.h"
#include "diagnose/diagnose.h"
#include "document/value.h"
#include "governor/record.h"
#include "plan/step/spec.h"

namespace wheelsmith::run {

enum class Outcome : std::uint8_t { built, cached, failed, skipped };
std::string_view to_string(Outcome outcome);

enum class TestResult : std::uint8_t { pass, fail, not_run };
std::string_view to_string(TestResult result);

struct TestOutcome {
  std::string id;
  TestResult outcome = TestResult::pass;
  std::string why;
};

// The first command that failed in a build's log, not the last one printed.
struct FirstFailure {
  std::string command;  // as the tool printed it; "" if unknown
  std::string folder;   // where it ran; "" if unknown
  std::string output;   // its own output, truncated
  std::uint64_t line = 0;
  std::string product{};  // ninja: its first output file
};

// A finished wheel in the store.
struct Artifact {
  std::string file_name, sha256;
  std::uint64_t size = 0;
};

struct StepOutcome {
  std::string id, package, key;
  Outcome outcome = Outcome::failed;
  std::optional<Artifact> artifact;
  std::filesystem::path wheel;                    // in the wheelhouse
  std::filesystem::path statement;                // its in-toto statement, beside it
  std::vector<std::filesystem::path> signatures;  // of both
  std::filesystem::path log;
  double seconds = 0;
  std::string node;                  // of a cluster, where it ran
  std::string cause;                 // of a failure, in one sentence
  std::optional<plan::Phase> phase;  // where it failed
  std::optional<FirstFailure> failure;
  std::optional<diagnose::Cause> diagnosis;  // from the step's log: the cause and its fix
  std::filesystem::path repeat_script;
  std::filesystem::path refused_wheel;  // --keep-failed: the wheel that failed a check or a test
  std::vector<TestOutcome> tests;
  std::vector<Finding> findings;
  std::string reason;
  // The early cut-off: the key of the earlier step whose wheel was kept, and the packages rebuilt since; "" for none.
  std::string kept_key;
  std::vector<std::string> rebuilt;
  governor::CacheCounts cache;  // compile cache hits and misses
  bool replaced = false;        // it replaced a different wheel in the wheelhouse
  bool editable = false;        // linked into an environment instead of becoming a wheel
  bool optional = false;        // its dependents can do without it: its failure does not fail the build

  [[nodiscard]] bool made() const { return outcome == Outcome::built || outcome == Outcome::cached; }
  [[nodiscard]] document::Value to_value() const;
  // Throws Error. Documents of other versions may lack members.
  static StepOutcome from_value(const document::Value& value);
};

// Whether every requested step succeeded.
bool all_made(const std::vector<StepOutcome>& outcomes);

}  // namespace wheelsmith::run

template <>
struct wheelsmith::EnumNames<wheelsmith::run::Outcome> {
  static constexpr std::array list = {"built", "cached", "failed", "skipped"};
};

template <>
struct wheelsmith::EnumNames<wheelsmith::run::TestResult> {
  static constexpr std::array list = {"pass", "fail", "not-run"};
};
