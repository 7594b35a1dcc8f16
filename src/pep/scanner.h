#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Inside this module only: a checked reader for the one-line grammars (versions, requirements, markers).

namespace wheelsmith::pep {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_alnum(char c) { return is_digit(c) || is_alpha(c); }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The text in quotes for a message: control characters visible, cut after 80 bytes.
std::string quoted_text(std::string_view text);

class Scanner {
 public:
  // `kind` is the expected kind of text ("version"), for messages.
  Scanner(std::string_view text, std::string_view kind, std::size_t at = 0)
      : m_text(text), m_kind(kind), m_at(at < text.size() ? at : text.size()) {}

  [[nodiscard]] bool done() const { return m_at == m_text.size(); }
  [[nodiscard]] std::size_t at() const { return m_at; }
  void go_to(std::size_t at) { m_at = at < m_text.size() ? at : m_text.size(); }
  // The next character, or NUL at the end.
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return ahead < m_text.size() - m_at ? m_text[m_at + ahead] : '\0';
  }
  [[nodiscard]] std::string_view rest() const { return m_text.substr(m_at); }

  bool accept(char c) {
    if (done() || m_text[m_at] != c) return false;
    ++m_at;
    return true;
  }
  bool accept(std::string_view word) {
    if (!rest().starts_with(word)) return false;
    m_at += word.size();
    return true;
  }
  void skip_blanks() { (void)take_while(is_blank); }
  template <class Predicate>
  std::string_view take_while(Predicate predicate) {
    const std::size_t begin = m_at;
    while (!done() && predicate(m_text[m_at])) ++m_at;
    return m_text.substr(begin, m_at - begin);
  }

  // Throws: "foo >= x" is not a valid requirement: "x" is not a valid version (column 8).
  [[noreturn]] void fail(std::string_view why) const { fail(why, m_at); }
  [[noreturn]] void fail(std::string_view why, std::size_t at) const;

 private:
  std::string_view m_text;
  std::string_view m_kind;
  std::size_t m_at;
};

// One or more comma-separated version specifiers, up to the first character that cannot be part of one
// (specifier.cc).
struct Specifier;
std::vector<Specifier> take_specifiers(Scanner& scanner);

}  // namespace wheelsmith::pep
