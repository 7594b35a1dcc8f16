// Functions are identified by name, wherever in the package they are defined: two functions of one name count as one, a
// method as its class. This overestimates calls, so that misread code counts as run by an import.

#include "wheel/read/python_calls.h"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_calls = 2'000'000;  // 100 MB; torch has 60,000

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

PythonCalls::Name name_of(std::string_view word) {
  return std::max<PythonCalls::Name>(std::hash<std::string_view>()(word), PythonCalls::k_module_level + 1);
}

std::string_view first_identifier(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_identifier(text[end])) ++end;
  return text.substr(0, end);
}

// "f" of "def f(x):" and of "class f:"; "" for other lines.
std::string_view defined_name(std::string_view line) {
  for (const std::string_view keyword : {"def ", "async def ", "class "}) {
    if (line.starts_with(keyword)) return first_identifier(trim(line.substr(keyword.size())));
  }
  return {};
}

// "a", "b" of "import b as a", "from m import b as a" and "a = b"; several of the first kind in one line.
void add_aliases(std::string_view line, std::vector<PythonCalls::Call>& calls) {
  for (std::size_t at = line.find(" as "); at != std::string_view::npos; at = line.find(" as ", at + 4)) {
    std::size_t begin = at;
    while (begin > 0 && is_identifier(line[begin - 1])) --begin;
    calls.push_back({name_of(first_identifier(trim(line.substr(at + 4)))), name_of(line.substr(begin, at - begin))});
  }
  const std::string_view target = first_identifier(line);
  const std::string_view rest = line.substr(target.size());
  if (target.empty() || !rest.starts_with(" = ")) return;
  const std::string_view value = trim(rest.substr(3));
  if (!value.empty() && first_identifier(value) == value) calls.push_back({name_of(target), name_of(value)});
}

void add_calls(std::string_view line, PythonCalls::Name caller, std::vector<PythonCalls::Call>& calls) {
  for (std::size_t at = 0; at < line.size();) {
    const std::string_view word = first_identifier(line.substr(at));
    at += std::max<std::size_t>(word.size(), 1);
    // The name before a dot may be the class of the function after it.
    if (!word.empty() && at < line.size() && (line[at] == '(' || line[at] == '.'))
      calls.push_back({caller, name_of(word)});
  }
}

bool opens_or_closes_text(std::string_view line) {
  std::size_t count = 0;
  for (const std::string_view quotes : {R"(""")", "'''"}) {
    for (std::size_t at = line.find(quotes); at != std::string_view::npos; at = line.find(quotes, at + 3)) ++count;
  }
  return count % 2 == 1;
}

}  // namespace

std::vector<PythonCalls::Line> PythonCalls::read(std::string_view text, std::vector<Call>& calls) {
  std::vector<Line> result;
  Name function = k_module_level;
  bool in_text = false;
  for (const std::string_view line : lines(text)) {
    const bool was_in_text = in_text;
    if (opens_or_closes_text(line)) in_text = !in_text;
    const std::string_view code = trim(line);
    if (code.empty()) continue;
    const bool at_margin = line.front() != ' ' && line.front() != '\t';
    // A bracket at column 0 ends the parameters of a function.
    if (at_margin && !was_in_text && code.find_first_of("#)]}") != 0) {
      const std::string_view defined = defined_name(code);
      function = defined.empty() ? k_module_level : name_of(defined);
    }
    result.push_back({line, function});
    if (was_in_text || code.front() == '#') continue;
    add_aliases(code, calls);
    const bool only_names = code.starts_with("import ") || code.starts_with("from ") || !defined_name(code).empty();
    if (!only_names) add_calls(code, function, calls);
  }
  return result;
}

void PythonCalls::add(const std::vector<Call>& calls) {
  if (m_too_many) return;
  for (const Call& call : calls) m_calls.insert(call);
  if (m_calls.size() <= k_most_calls) return;
  m_too_many = true;
  m_calls.clear();
}

void PythonCalls::finish() {
  std::unordered_multimap<Name, Name> callees;
  for (const Call& call : m_calls) callees.emplace(call.caller, call.callee);
  m_calls.clear();
  std::vector<Name> waiting = {k_module_level};
  m_run = {k_module_level};
  while (!waiting.empty()) {
    const auto [first, last] = callees.equal_range(waiting.back());
    waiting.pop_back();
    for (auto call = first; call != last; ++call) {
      if (m_run.insert(call->second).second) waiting.push_back(call->second);
    }
  }
}

bool PythonCalls::is_run(Name function) const { return m_too_many || m_run.contains(function); }

}  // namespace wheelsmith::wheel
