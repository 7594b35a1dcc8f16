#include "pep/project/html.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

constexpr std::size_t k_most_attributes = 64;
constexpr std::size_t k_longest_entity = 12;
constexpr std::size_t k_longest_text = 1000;

bool is_html_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

void append_utf8(std::string& text, std::uint32_t code) {
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xf0 | (code >> 18));
    tail(12), tail(6), tail(0);
  }
}

// The code point of "gt", "#62", "#x3E"; nothing for other entities, which project pages do not need.
std::optional<std::uint32_t> entity(std::string_view name) {
  static constexpr std::pair<std::string_view, std::uint32_t> k_named[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xa0}};
  for (const auto& [word, code] : k_named) {
    if (name == word) return code;
  }
  if (!name.starts_with('#') || name.size() < 2) return std::nullopt;
  name.remove_prefix(1);
  const bool hex = name[0] == 'x' || name[0] == 'X';
  if (hex) name.remove_prefix(1);
  if (name.empty() || name.size() > 8) return std::nullopt;
  std::uint64_t code = 0;
  for (const char c : name) {
    const char lower = static_cast<char>(c | 0x20);
    if (is_digit(c)) {
      code = code * (hex ? 16 : 10) + static_cast<std::uint64_t>(c - '0');
    } else if (hex && lower >= 'a' && lower <= 'f') {
      code = code * 16 + static_cast<std::uint64_t>(lower - 'a' + 10);
    } else {
      return std::nullopt;
    }
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(code, 0x110000));
}

}  // namespace

std::string decode_entities(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      const std::string_view ahead = text.substr(i + 1, k_longest_entity);
      const std::size_t end = ahead.find(';');
      const auto code = end == std::string_view::npos ? std::nullopt : entity(ahead.substr(0, end));
      if (code) {
        append_utf8(result, *code);
        i += end + 1;
        continue;
      }
    }
    result += text[i];
  }
  return result;
}

const std::string* HtmlTag::find(std::string_view attribute) const {
  for (const auto& [key, value] : attributes) {
    if (key == attribute) return &value;
  }
  return nullptr;
}

std::string HtmlReader::text_before() const { return decode_entities(m_text.substr(0, k_longest_text)); }

std::optional<HtmlTag> HtmlReader::next() {
  std::size_t text_begin = m_at;
  while (m_at < m_page.size()) {
    m_at = std::min(m_page.find('<', m_at), m_page.size());
    m_text = m_page.substr(text_begin, m_at - text_begin);
    const std::string_view rest = m_page.substr(m_at);
    if (rest.starts_with("<!--")) {
      m_at += 2;  // "<!-->" is a whole comment
      skip_behind("-->");
      text_begin = m_at;
    } else if (rest.starts_with("<!") || rest.starts_with("<?")) {
      skip_behind(">");
      text_begin = m_at;
    } else if (rest.size() > 1 && (is_alpha(rest[1]) || rest[1] == '/')) {
      return take_tag();
    } else if (!rest.empty()) {
      ++m_at;  // a lone '<'
    }
  }
  return std::nullopt;
}

std::optional<HtmlTag> HtmlReader::take_tag() {
  HtmlTag tag;
  const std::size_t begin = ++m_at;
  if (m_page[m_at] == '/') ++m_at;
  const auto ends_name = [](char c) { return is_html_blank(c) || c == '>' || c == '/'; };
  while (m_at < m_page.size() && !ends_name(m_page[m_at])) ++m_at;
  tag.name = to_lower(m_page.substr(begin, m_at - begin));
  while (take_attribute(tag)) {}
  if (m_at == m_page.size()) return std::nullopt;  // cut off in the middle of the tag
  ++m_at;
  if (tag.name == "script" || tag.name == "style") skip_raw_text(tag.name);
  return tag;
}

// False at the tag's '>' and at the end of the page.
bool HtmlReader::take_attribute(HtmlTag& tag) {
  skip_blanks();
  while (m_at < m_page.size() && m_page[m_at] == '/') {
    ++m_at;
    skip_blanks();
  }
  if (m_at == m_page.size() || m_page[m_at] == '>') return false;
  const std::size_t begin = m_at++;  // a '=' may begin a name
  const auto ends_name = [](char c) { return is_html_blank(c) || c == '>' || c == '/' || c == '='; };
  while (m_at < m_page.size() && !ends_name(m_page[m_at])) ++m_at;
  const std::string_view name = m_page.substr(begin, m_at - begin);
  skip_blanks();
  std::string value;
  if (m_at < m_page.size() && m_page[m_at] == '=') {
    ++m_at;
    skip_blanks();
    value = take_value();
  }
  if (tag.attributes.size() < k_most_attributes) tag.attributes.emplace_back(to_lower(name), std::move(value));
  return true;
}

std::string HtmlReader::take_value() {
  if (m_at == m_page.size()) return "";
  const char quote = m_page[m_at];
  const bool is_quoted = quote == '"' || quote == '\'';
  const std::size_t begin = m_at + (is_quoted ? 1 : 0);
  std::size_t end = begin;
  if (is_quoted) {
    end = std::min(m_page.find(quote, begin), m_page.size());
    m_at = std::min(end + 1, m_page.size());
  } else {
    while (end < m_page.size() && !is_html_blank(m_page[end]) && m_page[end] != '>') ++end;
    m_at = end;
  }
  return decode_entities(m_page.substr(begin, end - begin));
}

void HtmlReader::skip_blanks() {
  while (m_at < m_page.size() && is_html_blank(m_page[m_at])) ++m_at;
}

void HtmlReader::skip_behind(std::string_view mark) {
  const std::size_t at = m_page.find(mark, m_at);
  m_at = at == std::string_view::npos ? m_page.size() : at + mark.size();
}

// Text inside a script is not parsed for tags.
void HtmlReader::skip_raw_text(std::string_view element) {
  while (m_at < m_page.size()) {
    m_at = std::min(m_page.find("</", m_at), m_page.size());
    if (m_at < m_page.size() && to_lower(m_page.substr(m_at + 2, element.size())) == element) return;
    m_at = std::min(m_at + 2, m_page.size());
  }
}

}  // namespace wheelsmith::pep
