#include <fmt/format.h>

#include "base/text.h"
#include "plan/render/render.h"

namespace wheelsmith::plan {

namespace {

// In quoted strings of Graphviz a backslash starts an escape (\n, \l, \N), so it is doubled.
std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// "a" and "b" with a line break between them.
std::string two_lines(std::string_view first, std::string_view second) {
  std::string label = dot_quoted(first);
  label.pop_back();
  return label + "\\n" + dot_quoted(second).substr(1);
}

}  // namespace

std::string to_dot(const Plan& plan) {
  std::string text =
      "digraph plan {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n";
  for (const Step& step : plan.steps) {
    const std::string state = step.decision.cached ? "cached" : step.decision.reason;
    text += fmt::format("  {} [label={}, fillcolor=\"{}\"];\n", dot_quoted(step.id()), two_lines(step.id(), state),
                        step.decision.cached ? "#d5e8d4" : "#ffe6cc");
  }
  for (const Step& step : plan.steps) {
    for (const Edge& need : step.needs)
      text += fmt::format("  {} -> {};\n", dot_quoted(need.step), dot_quoted(step.id()));
  }
  return text + "}\n";
}

}  // namespace wheelsmith::plan
