// A setup.py is a program, and only running it shows all its dependencies; but its top-level imports are visible in the
// text. So this blanks out strings and comments, keeps line positions, and reads lines outside functions that begin
// with import or from.

#include "recipe/python_text.h"

#include <algorithm>

#include "base/text.h"

namespace wheelsmith::recipe {
namespace {

constexpr std::size_t k_most_literals = 20'000, k_longest_literal = 200, k_most_imports = 500;

bool is_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool ends_in_call(std::string_view code) {
  while (code.ends_with(' ') || code.ends_with('\n')) code.remove_suffix(1);
  const bool open = code.ends_with('(') || code.ends_with('[');
  return open && code.size() > 1 && is_name(code[code.size() - 2]);
}

// The text with strings and comments as blanks; newlines stay. Strings go to `literals`.
std::string code_of(std::string_view text, std::vector<PythonText::Literal>& literals) {
  std::string code;
  code.reserve(text.size());
  std::size_t at = 0;
  const auto blank = [&](std::size_t count) {
    for (const std::size_t end = std::min(at + count, text.size()); at < end; ++at) {
      code += text[at] == '\n' ? '\n' : ' ';
    }
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '#') {
      blank(std::min(text.find('\n', at), text.size()) - at);
    } else if (c == '\'' || c == '"') {
      const bool triple = text.size() - at >= 3 && text[at + 1] == c && text[at + 2] == c;
      const std::size_t quote = triple ? 3 : 1;
      std::size_t end = at + quote;
      while (end < text.size() &&
             !(triple ? text.substr(end, 3) == std::string(3, c) : text[end] == c || text[end] == '\n')) {
        end += text[end] == '\\' ? 2 : 1;
      }
      end = std::min(end, text.size());
      const std::string_view inside = text.substr(at + quote, end - std::min(end, at + quote));
      if (inside.size() <= k_longest_literal && literals.size() < k_most_literals) {
        literals.push_back({std::string(inside), ends_in_call(code)});
      }
      const bool closed = end < text.size() && text[end] == c;
      blank(end - at + (closed ? quote : 0));
    } else {
      code += c;
      ++at;
    }
  }
  return code;
}

std::string_view word_at_front(std::string_view text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_name);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// "import a.b, c as d" and "from a.b import c": a, c.
void add_imports(std::string_view statement, std::vector<std::string>& imports) {
  const std::string_view keyword = word_at_front(statement);
  if (keyword != "import" && keyword != "from") return;
  statement.remove_prefix(keyword.size());
  for (const std::string_view part : split(statement, ',')) {
    const std::string name(word_at_front(trim(part)));
    const bool known = std::find(imports.begin(), imports.end(), name) != imports.end();
    if (!name.empty() && !known && imports.size() < k_most_imports) imports.push_back(name);
    if (keyword == "from") return;
  }
}

}  // namespace

PythonText read_python(std::string_view text) {
  PythonText result;
  const std::string code = code_of(text, result.literals);
  int open = 0;                              // brackets, over lines
  bool continued = false;                    // by a backslash
  std::size_t function = std::string::npos;  // indentation of the def or class that we are in
  for (const std::string_view line : lines(code)) {
    const std::string_view statement = trim(line);
    const bool inside = open > 0 || continued;
    continued = statement.ends_with('\\');
    for (const char c : statement) {
      if (c == '(' || c == '[' || c == '{') ++open;
      if ((c == ')' || c == ']' || c == '}') && open > 0) --open;
    }
    if (inside || statement.empty()) continue;
    const std::size_t indentation = line.find_first_not_of(" \t");
    if (function != std::string::npos && indentation > function) continue;
    function = std::string::npos;
    const std::string_view keyword = word_at_front(statement);
    if (keyword == "def" || keyword == "class" || keyword == "async") {
      function = indentation;
      continue;
    }
    for (const std::string_view part : split(statement, ';')) add_imports(trim(part), result.imports);
  }
  return result;
}

}  // namespace wheelsmith::recipe
