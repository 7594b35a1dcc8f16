// Parses TOML with toml++, hardened for untrusted input: its assertions become errors, and input that would recurse
// without bound is rejected first.

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <tuple>

#include "base/error.h"
#include "base/text.h"
#include "document/plain_toml.h"
#include "document/value.h"

// toml++ 3.3 asserts conditions that input can violate ("[:key]"), and in release builds tells the compiler that they
// cannot fail. Here a failed assertion is a parse error.
namespace wheelsmith::document {
[[noreturn]] static void refuse_toml() { throw Error("a key or value is malformed"); }
}  // namespace wheelsmith::document
#undef NDEBUG
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? void() : ::wheelsmith::document::refuse_toml())
#include <toml++/toml.h>

namespace wheelsmith::document {
namespace {

// "a.a.a.a… = 1" nests a table per dot, and toml++ destroys them recursively: half a million dots crash the program. No
// real line has a thousand.
constexpr std::ptrdiff_t k_max_dots = 1000;

class Converter {
 public:
  explicit Converter(std::string_view file_name) : m_file_name(file_name) {}

  Value convert(const toml::node& node, std::size_t depth) {
    if (depth > k_max_depth) fail(node, fmt::format("nested deeper than {} levels", k_max_depth));
    if (++m_count > k_max_values) fail(node, fmt::format("more than {} values", k_max_values));
    Value value = without_line(node, depth);
    value.line = node.source().begin.line;
    return value;
  }

  Table table(const toml::table& from, std::size_t depth) {
    using Place = std::tuple<toml::source_index, toml::source_index>;
    std::vector<std::pair<Place, Member>> placed;
    for (const auto& [key, node] : from) {
      const auto begin = node.source().begin;
      placed.emplace_back(Place(begin.line, begin.column), Member(std::string(key.str()), convert(node, depth + 1)));
    }
    // toml++ sorts by key; messages should follow the file's order.
    std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Member> members;
    for (auto& [place, member] : placed) members.push_back(std::move(member));
    return Table(std::move(members));
  }

 private:
  [[noreturn]] void fail(const toml::node& where, const std::string& what) const {
    throw Error(fmt::format("{}:{}: {}", m_file_name, where.source().begin.line, what));
  }

  template <class T>
  static std::string written(const T& value) {
    std::ostringstream text;
    text << value;
    return std::move(text).str();
  }

  Value without_line(const toml::node& node, std::size_t depth) {
    switch (node.type()) {
      case toml::node_type::table: return table(*node.as_table(), depth);
      case toml::node_type::array: {
        Array list;
        for (const toml::node& element : *node.as_array()) list.push_back(convert(element, depth + 1));
        return list;
      }
      case toml::node_type::string: return node.as_string()->get();
      case toml::node_type::integer: return node.as_integer()->get();
      case toml::node_type::floating_point: return node.as_floating_point()->get();
      case toml::node_type::boolean: return node.as_boolean()->get();
      case toml::node_type::date: return written(node.as_date()->get());
      case toml::node_type::time: return written(node.as_time()->get());
      case toml::node_type::date_time: return written(node.as_date_time()->get());
      case toml::node_type::none: break;
    }
    return {};
  }

  std::string_view m_file_name;
  std::size_t m_count = 0;
};

void check_size(std::string_view text, std::string_view file_name) {
  if (text.size() > k_max_toml_size) {
    throw Error(fmt::format("{}:1: {} of TOML exceed the limit of {}", file_name, human_bytes(text.size()),
                            human_bytes(k_max_toml_size)));
  }
  std::size_t number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (std::count(line.begin(), line.end(), '.') > k_max_dots) {
      throw Error(fmt::format("{}:{}: more than {} dots in a line", file_name, number, k_max_dots));
    }
  }
}

// Outside of quotes and comments TOML is ASCII. toml++ 3.3 tells the compiler that some other characters cannot occur
// ("é = 1" proves otherwise), so they are rejected first. A quote where no string can begin (2 = 0"é) does not open one
// for toml++, and must not here.
class CharacterCheck {
 public:
  CharacterCheck(std::string_view text, std::string_view file_name) : m_text(text), m_file_name(file_name) {}

  void run() {
    if (m_text.starts_with("\xef\xbb\xbf")) m_at = 3;
    while (m_at < m_text.size()) {
      const char c = m_text[m_at];
      if (c == '#') {
        m_at = std::min(m_text.find('\n', m_at), m_text.size());
      } else if (c == '"' || c == '\'') {
        if (std::string_view("\n=[,{.").find(m_last) == std::string_view::npos) refuse("a quote is misplaced");
        m_last = c;
        skip_string(c);
      } else if (static_cast<unsigned char>(c) >= 0x80) {
        refuse("a non-ASCII character must be quoted");
      } else {
        if (c != ' ' && c != '\t' && c != '\r') m_last = c;
        ++m_at;
      }
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    const auto line = 1 + std::count(m_text.begin(), m_text.begin() + static_cast<std::ptrdiff_t>(m_at), '\n');
    throw Error(fmt::format("{}:{}: {}", m_file_name, line, what));
  }

  // Skips a quoted string: three quotes span lines, one does not.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool many = m_text.substr(m_at, 3) == three;
    m_at += many ? 3 : 1;
    while (m_at < m_text.size()) {
      if (m_text[m_at] == '\\' && quote == '"') {
        m_at += 2;
      } else if (many ? m_text.substr(m_at, 3) == three : m_text[m_at] == quote) {
        m_at += many ? 3 : 1;
        // Up to two more belong to the string: """"a"""" is "a".
        for (int more = 0; many && more < 2 && m_at < m_text.size() && m_text[m_at] == quote; ++more) ++m_at;
        return;
      } else if (!many && m_text[m_at] == '\n') {
        return;  // malformed; the parser reports it
      } else {
        ++m_at;
      }
    }
  }

  std::string_view m_text, m_file_name;
  std::size_t m_at = 0;
  char m_last = '\n';  // the last character outside blanks, comments and quotes
};

}  // namespace

Table parse_toml(std::string_view text, std::string_view file_name) {
  if (auto plain = read_plain_toml(text)) return std::move(*plain);
  return parse_toml_by_library(text, file_name);
}

Table parse_toml_by_library(std::string_view text, std::string_view file_name) {
  check_size(text, file_name);
  CharacterCheck(text, file_name).run();
  toml::table root;
  try {
    root = toml::parse(text, file_name);
  } catch (const toml::parse_error& e) {
    throw Error(fmt::format("{}:{}: {}", file_name, e.source().begin.line, printable(e.description())));
  } catch (const Error& e) {
    throw e.in(file_name);
  }
  return Converter(file_name).table(root, 0);
}

}  // namespace wheelsmith::document
