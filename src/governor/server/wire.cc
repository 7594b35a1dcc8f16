#include "governor/server/wire.h"

#include "base/text.h"

namespace wheelsmith::governor {

namespace {

bool is_name(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if ((c < 'a' || c > 'z') && c != '_') return false;
  }
  return true;
}

void add_escaped(std::string& line, std::string_view value) {
  for (const char c : value) {
    if (c == '\t' || c == '\n' || c == '%' || c == '\0') {
      line += '%';
      line += "0123456789abcdef"[(c >> 4) & 15];
      line += "0123456789abcdef"[c & 15];
    } else {
      line += c;
    }
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::string> unescaped(std::string_view value) {
  std::string result;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] != '%') {
      result += value[i];
      continue;
    }
    if (i + 2 >= value.size()) return std::nullopt;
    const int high = hex_digit(value[i + 1]);
    const int low = hex_digit(value[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    result += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return result;
}

}  // namespace

std::string Message::text(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? std::string() : found->second;
}

std::uint64_t Message::number(std::string_view name, std::uint64_t fallback) const {
  return to_number(text(name)).value_or(fallback);
}

std::string to_line(const Message& message) {
  std::string line(enum_name(message.word));
  for (const auto& [name, value] : message.fields) {
    line += '\t';
    line += name;
    line += '=';
    add_escaped(line, value);
  }
  line += '\n';
  return line;
}

std::optional<Message> parse_message(std::string_view line) {
  Message message;
  bool first = true;
  for (const std::string_view part : split(line, '\t')) {
    if (first) {
      const auto word = enum_named<Word>(part);
      if (!word || *word == Word::none) return std::nullopt;
      message.word = *word;
      first = false;
      continue;
    }
    const std::size_t equals = part.find('=');
    if (equals == part.npos || !is_name(part.substr(0, equals))) return std::nullopt;
    auto value = unescaped(part.substr(equals + 1));
    if (!value) return std::nullopt;
    message.fields.insert_or_assign(std::string(part.substr(0, equals)), std::move(*value));
  }
  return message;
}

}  // namespace wheelsmith::governor
