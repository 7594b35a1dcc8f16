// Removes decoration around a line: timestamps of CI systems, docker prefixes, box drawings of pip and uv, colours.

#include <algorithm>

#include "base/text.h"
#include "diagnose/line.h"

namespace wheelsmith::diagnose {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool skip(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - from;
}

std::size_t skip_blanks(std::string_view& text) {
  std::size_t count = 0;
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) {
    text.remove_prefix(1);
    ++count;
  }
  return count;
}

// The length of "2025-03-01T12:34:56.789Z", "2025-03-01 12:34:56,789", "12:34:56.789" at the start; 0 when there is
// none.
std::size_t time_length(std::string_view text) {
  std::size_t at = 0;
  if (digits_at(text, 0) == 4 && text.size() > 11 && (text[4] == '-' || text[4] == '/') && digits_at(text, 5) == 2 &&
      text[7] == text[4] && digits_at(text, 8) == 2 && (text[10] == 'T' || text[10] == ' ')) {
    at = 11;
  }
  if (at + 8 > text.size() || digits_at(text, at) != 2 || text[at + 2] != ':' || digits_at(text, at + 3) != 2 ||
      text[at + 5] != ':' || digits_at(text, at + 6) != 2)
    return 0;
  at += 8;
  if (at < text.size() && (text[at] == '.' || text[at] == ',')) at += 1 + digits_at(text, at + 1);
  if (at < text.size() && text[at] == 'Z') ++at;
  if (at + 6 <= text.size() && (text[at] == '+' || text[at] == '-') && digits_at(text, at + 1) == 2) at += 6;
  return at;
}

// "2025-… ", "[2025-…] ", "[12:34:56] ", "(12:34:56) ": CI systems and `ts`.
void skip_time(std::string_view& text) {
  const bool bracket = !text.empty() && (text[0] == '[' || text[0] == '(');
  std::size_t length = time_length(text.substr(bracket ? 1 : 0));
  if (length == 0) return;
  if (bracket) {
    if (length + 1 >= text.size() || (text[length + 1] != ']' && text[length + 1] != ')')) return;
    length += 2;
  }
  if (length < text.size() && text[length] != ' ' && text[length] != '\t') return;
  text.remove_prefix(std::min(length + 1, text.size()));
}

// BuildKit: "#12 34.56 text".
void skip_docker(std::string_view& text) {
  if (text.size() < 4 || text[0] != '#') return;
  std::size_t at = 1 + digits_at(text, 1);
  if (at == 1 || at >= text.size() || text[at] != ' ') return;
  ++at;
  const std::size_t whole = digits_at(text, at);
  if (whole == 0 || at + whole >= text.size() || text[at + whole] != '.') return;
  at += whole + 1;
  at += digits_at(text, at);
  if (at < text.size() && text[at] != ' ') return;
  text.remove_prefix(std::min(at + 1, text.size()));
}

// docker compose: "name-1  | text", "name-1 | text".
void skip_compose(std::string_view& text) {
  const std::size_t bar = text.substr(0, 64).find(" | ");
  if (bar == text.npos || bar == 0) return;
  const std::string_view name = trim(text.substr(0, bar));
  if (name.size() < 3 || name.find(' ') != name.npos || name.rfind('-') == name.npos || !is_digit(name.back())) return;
  text.remove_prefix(bar + 3);
}

// GitHub and Azure: "##[error]text", "::error::text".
void skip_annotation(std::string_view& text) {
  for (const std::string_view word :
       {"##[error]", "##[warning]", "##[group]", "##[debug]", "::error::", "::warning::"}) {
    if (skip(text, word)) return;
  }
}

// GCC quotes as the locale has it; a pattern knows one quote.
std::string with_plain_quotes(std::string text) {
  for (const auto& [quote, plain] : {std::pair("\xe2\x80\x98", '\''), std::pair("\xe2\x80\x99", '\''),
                                     std::pair("\xe2\x80\x9c", '"'), std::pair("\xe2\x80\x9d", '"')}) {
    for (std::size_t at = text.find(quote); at != text.npos; at = text.find(quote, at)) text.replace(at++, 3, 1, plain);
  }
  return text;
}

}  // namespace

std::string_view without_escapes(std::string_view line, std::string& space) {
  if (line.find('\x1b') == line.npos) return line;
  space.clear();
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      space += line[i];
      continue;
    }
    if (i + 1 >= line.size()) break;
    const char kind = line[++i];
    if (kind == '[') {
      do ++i;
      while (i < line.size() && (line[i] < '@' || line[i] > '~'));
    } else if (kind == ']') {  // a title or a link, up to BEL or ESC backslash
      while (i < line.size() && line[i] != '\a' && line[i] != '\x1b') ++i;
      if (i + 1 < line.size() && line[i] == '\x1b') ++i;
    } else if (kind == '(' || kind == ')') {
      ++i;
    }
  }
  return space;
}

Line clean(std::string_view raw, std::string& space) {
  std::string without;
  std::string_view text = without_escapes(raw, without);
  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
    space = with_plain_quotes(to_valid_utf8(text));
    text = space;
  } else if (text.data() == without.data()) {
    space = std::move(without);
    text = space;
  }
  Line line;
  skip_time(text);
  skip_docker(text);
  skip_compose(text);
  skip_time(text);
  skip_annotation(text);
  line.indent = skip_blanks(text);
  // Bars and branches, as pip, uv and cargo draw them.
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view drawn : {"│", "┃", "╰─▶", "├─▶", "╰─>", "├─>", "╰─", "├─", "|  "}) {
      if (!skip(text, drawn)) continue;
      line.in_tree = true;
      line.indent += 2 + skip_blanks(text);
      more = true;
    }
  }
  line.text = trim(text);
  return line;
}

}  // namespace wheelsmith::diagnose
