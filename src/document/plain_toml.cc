#include "document/plain_toml.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace wheelsmith::document {

namespace {

constexpr std::size_t k_most_members = 256;  // they are compared with each other
constexpr unsigned k_deepest_list = 8;
constexpr std::string_view k_three = "'''";
constexpr std::string_view k_three_double = "\"\"\"";
constexpr std::size_t k_most_digits = 18;

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

class PlainToml {
 public:
  explicit PlainToml(std::string_view text) : m_text(text) {}

  std::optional<Table> read() {
    for (;;) {
      skip_to_content();
      if (at_end()) break;
      if (peek() == '[') {
        header();
      } else {
        std::string name = key();
        skip_blanks();
        expect('=');
        skip_blanks();
        add(m_open, std::move(name), value(0));
      }
      end_of_line();
    }
    close();
    if (m_failed) return std::nullopt;
    return std::move(m_root);
  }

 private:
  using Members = std::vector<Member>;

  // This document is for toml++: everything ends, as if the text did. No exception, since the first one of a process
  // takes longer than all this.
  void fail() {
    m_failed = true;
    m_at = m_text.size();
  }

  [[nodiscard]] bool at_end() const { return m_at >= m_text.size(); }
  [[nodiscard]] char peek() const { return at_end() ? '\0' : m_text[m_at]; }
  void expect(char c) {
    if (peek() != c || at_end()) return fail();
    ++m_at;
  }
  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t') ++m_at;
  }
  // Not a control character. The text is valid UTF-8.
  static bool is_plain(char c) { return (c >= ' ' && c != 0x7f) || c == '\t' || static_cast<unsigned char>(c) >= 0x80; }

  void skip_comment() {
    if (peek() != '#') return;
    while (!at_end() && peek() != '\n') {
      if (!is_plain(peek())) return fail();
      ++m_at;
    }
  }
  void skip_to_content() {
    for (;;) {
      skip_blanks();
      skip_comment();
      if (peek() != '\n' || at_end()) return;
      next_line();
    }
  }
  void next_line() {
    ++m_line;
    ++m_at;
  }
  void end_of_line() {
    skip_blanks();
    skip_comment();
    if (!at_end() && peek() != '\n') fail();
  }

  std::string key() {
    const std::size_t start = m_at;
    while (is_key_character(peek())) ++m_at;
    if (m_at == start) fail();
    return std::string(m_text.substr(start, m_at - start));
  }

  static Member* find(Members& members, std::string_view name) {
    for (Member& member : members) {
      if (member.first == name) return &member;
    }
    return nullptr;
  }

  void add(Members& members, std::string name, Value value) {
    if (members.size() >= k_most_members || find(members, name) != nullptr) return fail();
    members.emplace_back(std::move(name), std::move(value));
  }

  // The members that follow a header become its table.
  void close() {
    Table table(std::move(m_open));
    m_open = Members();
    *m_table = std::move(table);
  }

  // The table that a part of a header's name leads to: "b" in [a.b.c].
  // Null if it is not a table.
  Table* step_into(Table& from, const std::string& name) {
    if (from.find(name) == nullptr) {
      if (from.size() >= k_most_members) return nullptr;
      Value& made = from[name];
      made = Table();
      made.line = m_line;
    }
    Value* value = &from[name];
    if (Array* list = value->array(); list != nullptr && !list->empty()) value = &list->back();
    return value->table();
  }

  void header() {
    close();
    expect('[');
    const bool in_list = peek() == '[';
    if (in_list) ++m_at;
    Table* table = &m_root;
    skip_blanks();
    std::string name = key();
    for (unsigned depth = 0; peek() == '.'; ++depth) {
      ++m_at;
      table = depth < k_deepest_list ? step_into(*table, name) : nullptr;
      if (table == nullptr) return fail();
      name = key();
    }
    skip_blanks();
    expect(']');
    if (in_list) expect(']');
    const bool is_new = table->find(name) == nullptr;
    if (m_failed || table->size() >= k_most_members) return fail();
    Value& value = (*table)[name];
    if (!is_new && !in_list) return fail();
    if (is_new) {
      value = in_list ? Value(Array()) : Value(Table());
      value.line = m_line;
    }
    if (!in_list) {
      m_table = value.table();
      return;
    }
    // Only headers make lists of tables here.
    Array* list = value.array();
    if (list == nullptr || (!is_new && (list->empty() || list->back().table() == nullptr))) return fail();
    list->emplace_back(Table());
    list->back().line = m_line;
    m_table = list->back().table();
  }

  Value value(unsigned depth) {
    if (++m_values > k_max_values) fail();
    const std::uint32_t line = m_line;
    Value result = without_line(depth);
    result.line = line;
    return result;
  }

  Value without_line(unsigned depth) {
    switch (peek()) {
      case '"': return basic_string();
      case '\'': return literal_string();
      case '[': return list(depth);
      case 't': return word("true", true);
      case 'f': return word("false", false);
      default: return number();
    }
  }

  Value word(std::string_view text, bool meaning) {
    if (m_text.substr(m_at, text.size()) == text) {
      m_at += text.size();
    } else {
      fail();
    }
    if (is_key_character(peek())) fail();
    return meaning;
  }

  Value number() {
    const bool negative = peek() == '-';
    if (negative) ++m_at;
    const std::size_t start = m_at;
    std::int64_t result = 0;
    while (peek() >= '0' && peek() <= '9' && m_at - start < k_most_digits)
      result = result * 10 + (m_text[m_at++] - '0');
    const std::size_t digits = m_at - start;
    if (digits == 0 || (digits > 1 && m_text[start] == '0')) fail();  // a longer number fails below
    if (is_key_character(peek()) || peek() == '.' || peek() == ':' || peek() == '+') fail();
    return negative ? -result : result;
  }

  Value literal_string() {
    if (m_text.substr(m_at, 3) == k_three) return long_literal_string();
    expect('\'');
    const std::size_t start = m_at;
    while (peek() != '\'') {
      if (at_end() || !is_plain(peek())) {
        fail();
        return {};
      }
      ++m_at;
    }
    Value result(m_text.substr(start, m_at - start));
    ++m_at;
    if (peek() == '\'') fail();
    return result;
  }

  Value long_literal_string() {
    m_at += k_three.size();
    if (peek() == '\n') next_line();
    const std::size_t start = m_at;
    while (m_text.substr(m_at, 3) != k_three) {
      if (peek() == '\n') {
        next_line();
      } else if (!at_end() && is_plain(peek())) {
        ++m_at;
      } else {
        fail();
        return {};
      }
    }
    // Up to two quotes in front of the last three belong to the string.
    for (int more = 0; more < 2 && m_text.substr(m_at + 3, 1) == "'"; ++more) ++m_at;
    Value result(m_text.substr(start, m_at - start));
    m_at += k_three.size();
    if (peek() == '\'') fail();
    return result;
  }

  void escaped(std::string& text) {
    ++m_at;
    switch (peek()) {
      case '"': text += '"'; break;
      case '\\': text += '\\'; break;
      case 'n': text += '\n'; break;
      case 't': text += '\t'; break;
      default: return fail();
    }
    ++m_at;
  }

  Value basic_string() {
    const bool is_long = m_text.substr(m_at, 3) == k_three_double;
    m_at += is_long ? 3 : 1;
    if (is_long && peek() == '\n') next_line();
    std::string text;
    for (;;) {
      const std::size_t start = m_at;
      while (!at_end() && peek() != '"' && peek() != '\\' && is_plain(peek())) ++m_at;
      text += m_text.substr(start, m_at - start);
      if (peek() == '\\') {
        escaped(text);
      } else if (is_long && peek() == '\n') {
        text += '\n';
        next_line();
      } else if (peek() != '"') {
        fail();
        return {};
      } else if (is_long && m_text.substr(m_at, 3) != k_three_double) {
        text += '"';
        ++m_at;
      } else {
        break;
      }
    }
    // Up to two quotes in front of the last three belong to the string.
    for (int more = 0; is_long && more < 2 && m_text.substr(m_at + 3, 1) == "\""; ++more) {
      text += '"';
      ++m_at;
    }
    m_at += is_long ? 3 : 1;
    if (peek() == '"') fail();
    return text;
  }

  Value list(unsigned depth) {
    if (depth >= k_deepest_list) fail();
    expect('[');
    Array result;
    for (;;) {
      skip_to_content();
      if (peek() == ']') break;
      result.push_back(value(depth + 1));
      skip_to_content();
      if (peek() == ']') break;
      expect(',');
      if (m_failed) return {};
    }
    ++m_at;
    return result;
  }

  std::string_view m_text;
  std::size_t m_at = 0, m_values = 0;
  std::uint32_t m_line = 1;
  Table m_root;
  Table* m_table = &m_root;  // of the last header, where m_open goes
  Members m_open;
  bool m_failed = false;
};

// Most lines are ASCII, which is quick to see.
bool is_valid_utf8(std::string_view text) {
  const std::vector<std::string_view> all = lines(text);
  return std::all_of(all.begin(), all.end(), [](std::string_view line) {
    unsigned char bits = 0;
    for (const char c : line) bits |= static_cast<unsigned char>(c);
    return bits < 0x80 || to_valid_utf8(line) == line;
  });
}

}  // namespace

std::optional<Table> read_plain_toml(std::string_view text) {
  if (text.size() > k_max_toml_size || !is_valid_utf8(text)) return std::nullopt;
  return PlainToml(text).read();
}

}  // namespace wheelsmith::document
