#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/knowledge.h"
#include "document/value.h"

// A log in, a cause and a remedy out. See reader.cc for how a log is read, verdict.cc for how the cause is chosen.

namespace wheelsmith::diagnose {

// Values for placeholders in remedies: named groups of a match, facts of the log, "machine.jobs" -> "3".
using Values = std::map<std::string, std::string>;
// Where the result is shown: for the log of another tool, or below a failed step of `wheelsmith build`, where a remedy
// is an option, a recipe line or a system package.
enum class Audience { anyone, build };

// Callbacks for information outside the log, called only if something failed.
struct Machine {
  std::function<Values()> values;  // what this machine has
  // What nvcc of a version compiles for: "75", "90a"; empty if unknown.
  std::function<std::vector<std::string>(std::string_view version)> nvcc_archs;
  Audience audience = Audience::anyone;
};

struct Quote {
  std::uint64_t line = 0;
  std::string text;
};

struct Cause {
  std::string id, kind, stage;
  std::string what;                // one sentence
  std::vector<std::string> fixes;  // the best first
  std::uint64_t line = 0;
  std::vector<Quote> why;
  std::string sure;  // "certain", "likely", "a guess"
  std::vector<std::string> sources;
  std::string check;  // the check of `doctor` that sees it beforehand
  std::string command;
};

// As `diagnose --json` has it ("class", "fix", …), and back.
document::Value to_value(const Cause& cause);
Cause cause_from(const document::Value& value);

struct Diagnosis {
  bool failed = false;
  std::optional<Cause> cause;  // there whenever it failed
  std::vector<Cause> further;  // other findings, in the order of the log
  std::string command;         // the first that failed, where the log tells
  std::uint64_t lines = 0;
};

// Reads a log in pieces with bounded memory. finish() may be called at any time, even if the log is incomplete.
class Diagnoser {
 public:
  explicit Diagnoser(const Knowledge& knowledge);
  ~Diagnoser();
  Diagnoser(const Diagnoser&) = delete;
  Diagnoser& operator=(const Diagnoser&) = delete;

  void feed(std::string_view bytes);
  [[nodiscard]] Diagnosis finish(const Machine& machine = {});

 private:
  std::unique_ptr<class Reader> m_reader;
};

Diagnosis diagnose(std::string_view log, const Knowledge& knowledge = builtin_knowledge(), const Machine& machine = {});

}  // namespace wheelsmith::diagnose
