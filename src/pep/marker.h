#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::pep {

// The values of marker variables: "python_version" -> "3.11", "sys_platform" -> "linux". The sets `extras` and
// `dependency_groups` are comma-separated names.
using MarkerEnvironment = std::map<std::string, std::string, std::less<>>;

// An environment marker by PEP 508: python_version < "3.11" and (extra == "cuda" or os_name == "nt").
class Marker {
 public:
  // Throws Error with the column. Reading starts at `from`, so that columns count in the text the user wrote.
  static Marker parse(std::string_view text, std::size_t from = 0);
  // With double quotes and only the parentheses it needs; parses to an equal marker.
  [[nodiscard]] std::string to_string() const;
  // Throws Error if a variable is not in the environment (`extra` counts as "") or a comparison is not defined.
  [[nodiscard]] bool evaluate(const MarkerEnvironment& environment) const;
  // The names that `extra` is compared with, as written, in order.
  [[nodiscard]] std::vector<std::string> extras() const;

  struct Operand {
    bool is_variable = false;
    std::string text;  // the variable's current name, or the string without its quotes
    friend bool operator==(const Operand&, const Operand&) = default;
  };
  enum class Kind { compare, both, either };
  struct Node {
    Kind kind = Kind::compare;
    Operand left, right;  // of a comparison
    std::string op;
    friend bool operator==(const Node&, const Node&) = default;
  };
  // The tree in postfix order: both and either take the two markers before them.
  [[nodiscard]] const std::vector<Node>& nodes() const { return m_nodes; }
  friend bool operator==(const Marker&, const Marker&) = default;

 private:
  std::vector<Node> m_nodes;
};

}  // namespace wheelsmith::pep
