#include "governor/parts/shell_words.h"

namespace wheelsmith::governor {

namespace {

constexpr std::size_t k_most_words = 100'000;

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

class ShellReader {
 public:
  ShellReader(std::string_view text, const ShellVariables& variables) : m_text(text), m_variables(variables) {}

  std::optional<std::vector<std::string>> read() {
    while (m_at < m_text.size() && m_words.size() < k_most_words) {
      if (!step()) return std::nullopt;
    }
    if (m_at < m_text.size()) return std::nullopt;
    end_word();
    return std::move(m_words);
  }

 private:
  void add(char c) {
    m_word += c;
    m_open = true;
  }
  void end_word() {
    if (m_open) m_words.push_back(std::move(m_word));
    m_word.clear();
    m_open = false;
  }

  bool step() {
    const char c = m_text[m_at++];
    switch (c) {
      case ' ':
      case '\t': end_word(); return true;
      case '"': m_open = true; return double_quoted();
      case '\'': m_open = true; return single_quoted();
      case '\\':
        if (m_at == m_text.size() || m_text[m_at] == '\n') return false;
        add(m_text[m_at++]);
        return true;
      // Outside of quotes, a value with blanks or patterns would become several words.
      case '$': return variable(false);
      case '#':
      case '~':
        if (!m_open) return false;
        add(c);
        return true;
      default: break;
    }
    if (std::string_view("|&;<>()`*?[]{}!\n\r").find(c) != std::string_view::npos || c == '\0') return false;
    add(c);
    return true;
  }

  bool single_quoted() {
    const std::size_t end = m_text.find('\'', m_at);
    if (end == m_text.npos) return false;
    m_word += m_text.substr(m_at, end - m_at);
    m_at = end + 1;
    return true;
  }

  bool double_quoted() {
    while (m_at < m_text.size()) {
      const char c = m_text[m_at++];
      if (c == '"') return true;
      if (c == '`') return false;
      if (c == '$') {
        if (!variable(true)) return false;
      } else if (c == '\\' && m_at < m_text.size() &&
                 std::string_view("\\\"$`").find(m_text[m_at]) != std::string_view::npos) {
        m_word += m_text[m_at++];
      } else {
        m_word += c;
      }
    }
    return false;
  }

  // After '$'.
  bool variable(bool quoted) {
    const std::size_t start = m_at;
    if (start == m_text.size() || !is_name_start(m_text[start])) return false;
    while (m_at < m_text.size() && is_name_part(m_text[m_at])) ++m_at;
    const auto found = m_variables.find(m_text.substr(start, m_at - start));
    if (found == m_variables.end()) return false;
    if (!quoted && (found->second.empty() || found->second.find_first_of(" \t\n*?[") != std::string::npos))
      return false;
    m_word += found->second;
    m_open = true;
    return true;
  }

  std::string_view m_text;
  const ShellVariables& m_variables;
  std::size_t m_at = 0;
  std::string m_word;
  bool m_open = false;
  std::vector<std::string> m_words;
};

}  // namespace

std::optional<std::vector<std::string>> shell_words(std::string_view text, const ShellVariables& variables) {
  return ShellReader(text, variables).read();
}

}  // namespace wheelsmith::governor
