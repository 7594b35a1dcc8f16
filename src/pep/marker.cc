// Environment markers by PEP 508.
//
//   marker  = both ("or" both)*           both = term ("and" term)*
//   term    = operand op operand | "(" marker ")"
//   operand = variable | '…' | "…"        op = "<=" "<" "!=" "==" ">=" ">" "~=" "===" "in" "not in"
//
// The text is read by the shunting-yard method into postfix order, and evaluated and printed over a stack: nothing here
// recurses, so a marker of a million parentheses is an error message and not the end of the stack. Nesting is limited
// anyway, because printing a deep nest would copy its inside once per level.

#include "pep/marker.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "pep/scanner.h"
#include "pep/wheel_name.h"

namespace wheelsmith::pep {

namespace {

constexpr std::size_t k_deepest = 100;

struct Variable {
  std::string_view written, name;
};

// Old wheels still contain the names of PEP 345.
constexpr std::array<Variable, 20> k_variables = {{
    {"implementation_name", "implementation_name"},
    {"implementation_version", "implementation_version"},
    {"os_name", "os_name"},
    {"platform_machine", "platform_machine"},
    {"platform_python_implementation", "platform_python_implementation"},
    {"platform_release", "platform_release"},
    {"platform_system", "platform_system"},
    {"platform_version", "platform_version"},
    {"python_full_version", "python_full_version"},
    {"python_version", "python_version"},
    {"sys_platform", "sys_platform"},
    {"extra", "extra"},
    {"extras", "extras"},
    {"dependency_groups", "dependency_groups"},
    {"os.name", "os_name"},
    {"sys.platform", "sys_platform"},
    {"platform.version", "platform_version"},
    {"platform.machine", "platform_machine"},
    {"platform.python_implementation", "platform_python_implementation"},
    {"python_implementation", "platform_python_implementation"},
}};

constexpr bool in_word(char c) { return is_alnum(c) || c == '_' || c == '.'; }

// The word, if it stands here whole.
bool accept_word(Scanner& scanner, std::string_view word) {
  const std::size_t begin = scanner.at();
  if (scanner.take_while(in_word) == word) return true;
  scanner.go_to(begin);
  return false;
}

Marker::Operand take_operand(Scanner& scanner) {
  scanner.skip_blanks();
  const std::size_t begin = scanner.at();
  const char quote = scanner.peek();
  if (quote == '"' || quote == '\'') {
    scanner.accept(quote);
    const std::string_view text = scanner.take_while([quote](char c) { return c != quote; });
    if (!scanner.accept(quote)) scanner.fail("the string is not terminated", begin);
    return {false, std::string(text)};
  }
  const std::string_view word = scanner.take_while(in_word);
  if (word.empty()) scanner.fail("expected a variable or a quoted string");
  const auto found =
      std::find_if(k_variables.begin(), k_variables.end(), [&](const Variable& v) { return v.written == word; });
  if (found == k_variables.end()) scanner.fail(quoted_text(word) + " is not a marker variable", begin);
  return {true, std::string(found->name)};
}

std::string take_operator(Scanner& scanner) {
  scanner.skip_blanks();
  for (const std::string_view op : {"===", "==", "~=", "!=", "<=", ">=", "<", ">"}) {
    if (scanner.accept(op)) return std::string(op);
  }
  if (accept_word(scanner, "in")) return "in";
  const std::size_t begin = scanner.at();
  if (accept_word(scanner, "not")) {
    scanner.skip_blanks();
    if (accept_word(scanner, "in")) return "not in";
  }
  scanner.fail("expected a comparison such as \"==\" or \"in\"", begin);
}

// The elements on the stack of the shunting-yard method.
enum class Waiting { parenthesis, both, either };

class Yard {
 public:
  explicit Yard(std::vector<Marker::Node>& out) : m_out(out) {}

  void open(const Scanner& scanner) {
    if (++m_depth > k_deepest) scanner.fail("too many nested parentheses");
    m_stack.push_back(Waiting::parenthesis);
  }
  bool close() {
    pop_while([](Waiting top) { return top != Waiting::parenthesis; });
    if (m_stack.empty()) return false;
    m_stack.pop_back();
    --m_depth;
    return true;
  }
  void combine(Waiting kind) {
    // "and" binds tighter than "or", and both bind to the left.
    pop_while([kind](Waiting top) { return top == Waiting::both || (top == Waiting::either && top == kind); });
    m_stack.push_back(kind);
  }
  [[nodiscard]] std::size_t depth() const { return m_depth; }

 private:
  template <class Predicate>
  void pop_while(Predicate predicate) {
    while (!m_stack.empty() && predicate(m_stack.back())) {
      Marker::Node node;
      node.kind = m_stack.back() == Waiting::both ? Marker::Kind::both : Marker::Kind::either;
      m_out.push_back(std::move(node));
      m_stack.pop_back();
    }
  }

  std::vector<Marker::Node>& m_out;
  std::vector<Waiting> m_stack;
  std::size_t m_depth = 0;
};

bool is_version_variable(const Marker::Operand& operand) {
  return operand.is_variable && (operand.text == "python_version" || operand.text == "python_full_version" ||
                                 operand.text == "implementation_version" || operand.text == "platform_release");
}

bool is_name_variable(const Marker::Operand& operand) {
  return operand.is_variable &&
         (operand.text == "extra" || operand.text == "extras" || operand.text == "dependency_groups");
}

std::string value_of(const Marker::Operand& operand, const MarkerEnvironment& environment) {
  if (!operand.is_variable) return operand.text;
  const auto found = environment.find(operand.text);
  if (found != environment.end()) return found->second;
  if (operand.text == "extra") return "";
  throw Error("the environment has no value for the marker variable \"" + operand.text + '"');
}

bool is_in(const Marker::Node& node, std::string left, std::string right) {
  if (!is_name_variable(node.left) && !is_name_variable(node.right)) return right.find(left) != std::string::npos;
  const std::vector<std::string_view> names = split(right, ',');
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return normalized_name(trim(name)) == normalized_name(left); });
}

// Strings have no order here: "<=" and ">=" mean "==", and "<" and ">" are always false.
bool compare_strings(const std::string& op, const std::string& left, const std::string& right) {
  if (op == "==" || op == "<=" || op == ">=") return left == right;
  if (op == "!=") return left != right;
  if (op == "<" || op == ">") return false;
  throw Error("the marker comparison " + quoted_text(left + ' ' + op + ' ' + right) + " is not defined for strings");
}

bool compare(const Marker::Node& node, const MarkerEnvironment& environment) {
  const std::string left = value_of(node.left, environment);
  const std::string right = value_of(node.right, environment);
  if (node.op == "in") return is_in(node, left, right);
  if (node.op == "not in") return !is_in(node, left, right);
  if (is_version_variable(node.left) || is_version_variable(node.right)) {
    const std::string_view wanted = trim(right);
    const std::optional<Version> version = Version::try_parse(left);
    if (version && !specifier_problem(node.op, wanted))
      return Specifier{node.op, std::string(wanted)}.contains(*version);
  }
  if (is_name_variable(node.left) || is_name_variable(node.right)) {
    return compare_strings(node.op, normalized_name(left), normalized_name(right));
  }
  return compare_strings(node.op, left, right);
}

std::string written(const Marker::Operand& operand) {
  if (operand.is_variable) return operand.text;
  const char quote = operand.text.find('"') == std::string::npos ? '"' : '\'';
  return quote + operand.text + quote;
}

struct Printed {
  std::string text;
  Marker::Kind kind;
};

void parenthesize(Printed& printed) { printed.text = '(' + printed.text + ')'; }

}  // namespace

Marker Marker::parse(std::string_view text, std::size_t from) {
  Marker marker;
  Scanner scanner(text, from == 0 ? "marker" : "requirement", from);
  Yard yard(marker.m_nodes);
  while (true) {
    for (scanner.skip_blanks(); scanner.accept('('); scanner.skip_blanks()) yard.open(scanner);
    Node node;
    node.left = take_operand(scanner);
    node.op = take_operator(scanner);
    node.right = take_operand(scanner);
    marker.m_nodes.push_back(std::move(node));
    for (scanner.skip_blanks(); scanner.accept(')'); scanner.skip_blanks()) {
      if (!yard.close()) scanner.fail("unbalanced closing parenthesis", scanner.at() - 1);
    }
    if (scanner.done()) break;
    if (accept_word(scanner, "and")) {
      yard.combine(Waiting::both);
    } else if (accept_word(scanner, "or")) {
      yard.combine(Waiting::either);
    } else {
      scanner.fail("expected \"and\", \"or\" or the end of the marker");
    }
  }
  if (yard.depth() > 0) scanner.fail("unclosed parenthesis");
  (void)yard.close();
  return marker;
}

std::string Marker::to_string() const {
  std::vector<Printed> stack;
  for (const Node& node : m_nodes) {
    if (node.kind == Kind::compare) {
      stack.push_back({written(node.left) + ' ' + node.op + ' ' + written(node.right), Kind::compare});
      continue;
    }
    Printed right = std::move(stack.back());
    stack.pop_back();
    Printed& left = stack.back();
    if (node.kind == Kind::both && left.kind == Kind::either) parenthesize(left);
    if (right.kind == Kind::either || right.kind == node.kind) parenthesize(right);
    left.text += node.kind == Kind::both ? " and " : " or ";
    left.text += right.text;
    left.kind = node.kind;
  }
  return stack.empty() ? "" : std::move(stack.back().text);
}

bool Marker::evaluate(const MarkerEnvironment& environment) const {
  std::vector<bool> stack;
  for (const Node& node : m_nodes) {
    if (node.kind == Kind::compare) {
      stack.push_back(compare(node, environment));
      continue;
    }
    const bool right = stack.back();
    stack.pop_back();
    stack.back() = node.kind == Kind::both ? stack.back() && right : stack.back() || right;
  }
  return stack.empty() || stack.back();
}

std::vector<std::string> Marker::extras() const {
  std::vector<std::string> names;
  const Operand extra = {true, "extra"};
  for (const Node& node : m_nodes) {
    if (node.kind != Kind::compare || (node.op != "==" && node.op != "!=")) continue;
    if (node.left == extra && !node.right.is_variable) names.push_back(node.right.text);
    if (node.right == extra && !node.left.is_variable) names.push_back(node.left.text);
  }
  return names;
}

}  // namespace wheelsmith::pep
