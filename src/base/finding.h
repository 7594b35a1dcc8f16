#pragma once

#include <string>
#include <string_view>

namespace wheelsmith {

enum class Severity { error, warning, note };

std::string_view to_string(Severity severity);

// One fact that `check` or `doctor` reports. A finding with severity error makes its subject bad.
struct Finding {
  std::string id;  // stable, kebab-case, explained by `check --explain ID`
  Severity severity = Severity::error;
  std::string subject;  // a member of the wheel, a tag, a symbol: the subject of the finding
  std::string what;     // the problem, in one line
  std::string why;      // the consequence, in one sentence
  std::string fix;      // how to fix it

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace wheelsmith
