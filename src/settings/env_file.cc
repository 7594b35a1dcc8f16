#include <fmt/format.h>

#include <cctype>

#include "base/error.h"
#include "base/text.h"
#include "settings/settings.h"

namespace wheelsmith::settings {

namespace {

bool is_variable_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) return false;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

// Removes shell quotes from the value. Nothing is substituted: a '$' is kept.
std::string unquoted(std::string_view text) {
  std::string result;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote && quote != 0) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      result += text[++i];
    } else if (quote == 0 && c == '#' && (i == 0 || text[i - 1] == ' ')) {
      return std::string(trim(result));
    } else {
      result += c;
    }
  }
  if (quote != 0) throw Error("unclosed quote");
  return result;
}

}  // namespace

std::map<std::string, std::string> parse_env_file(std::string_view text, std::string_view file_name) {
  std::map<std::string, std::string> result;
  std::size_t number = 0;
  for (std::string_view line : lines(text)) {
    ++number;
    line = trim(line);
    if (line.starts_with("export ")) line = trim(line.substr(7));
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    const std::string_view name = line.substr(0, equals);
    const std::string place = fmt::format("{}:{}", file_name, number);
    if (equals == line.npos || !is_variable_name(name))
      throw Error(fmt::format("{}: must be NAME=VALUE, but is: {}", place, printable(line)));
    try {
      result[std::string(name)] = unquoted(trim(line.substr(equals + 1)));
    } catch (const Error& error) {
      throw error.in(place);
    }
  }
  return result;
}

}  // namespace wheelsmith::settings
