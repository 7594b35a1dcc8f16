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
  std::string subject;  // a member of the wheel, a tag, a symbol: what the finding is about
  std::string what;     // what is so
  std::string why;      // why it matters to the one who installs the wheel
  std::string fix;      // what mends it

  friend bool operator==(const Finding&, const Finding&) = default;
};

}  // namespace wheelsmith
