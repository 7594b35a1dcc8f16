// METADATA and WHEEL are e-mail headers: "Name: value" lines, a value continues on lines that begin with a space or
// tab, and the first empty line is followed by the body (the description). Lines end with \n, \r\n or \r.

#include "pep/metadata/metadata.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

// The largest real METADATA has a few thousand fields. A line of three bytes takes 64 bytes of memory.
constexpr std::size_t k_most_fields = 20'000;

// The text up to the next line end; `at` moves behind that end.
std::string_view take_line(std::string_view text, std::size_t& at) {
  const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
  const std::string_view line = text.substr(at, end - at);
  at = end;
  if (at < text.size() && text[at] == '\r') ++at;
  if (at < text.size() && text[at] == '\n' && (at == end || text[at - 1] == '\r')) ++at;
  return line;
}

// Printable ASCII without the colon, as in e-mail headers.
bool is_field_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string_view without_leading_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
}

}  // namespace

Headers Headers::parse(Bytes bytes) {
  Headers headers;
  std::string_view text = bytes.text();
  if (text.starts_with("\xef\xbb\xbf")) {
    headers.has_byte_order_mark = true;
    text.remove_prefix(3);
  }
  std::size_t at = 0;
  for (std::uint64_t number = 1; at < text.size(); ++number) {
    const std::string_view line = take_line(text, at);
    if (line.empty()) {
      headers.body = text.substr(at);
      break;
    }
    if (is_blank(line.front())) {
      if (headers.fields.empty()) {
        throw Error(fmt::format("line {}: a continuation line without a preceding field", number));
      }
      headers.fields.back().second += '\n';
      headers.fields.back().second += line;
      continue;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_field_name(line.substr(0, colon))) {
      throw Error(fmt::format("line {}: {} is not a \"Name: value\" field", number, quoted_text(line)));
    }
    if (headers.fields.size() == k_most_fields) {
      throw Error(fmt::format("line {}: more than {} fields", number, k_most_fields));
    }
    headers.fields.emplace_back(line.substr(0, colon), without_leading_blanks(line.substr(colon + 1)));
  }
  return headers;
}

std::string Headers::get(std::string_view name) const {
  const std::string wanted = to_lower(name);
  for (const auto& [field, value] : fields) {
    if (to_lower(field) == wanted) return value;
  }
  return "";
}

std::vector<std::string> Headers::all(std::string_view name) const {
  const std::string wanted = to_lower(name);
  std::vector<std::string> values;
  for (const auto& [field, value] : fields) {
    if (to_lower(field) == wanted) values.push_back(value);
  }
  return values;
}

bool Headers::has(std::string_view name) const {
  const std::string wanted = to_lower(name);
  return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return to_lower(field.first) == wanted; });
}

}  // namespace wheelsmith::pep
