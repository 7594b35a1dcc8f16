#include "index/serve/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "index/pages/pages.h"

namespace wheelsmith::index {

namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Strict: invalid escapes, and escaped '/', '\' or control characters, give nothing.
std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
      if (c == '/') return std::nullopt;
    }
    if (c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    result += c;
  }
  if (!is_valid_utf8(result)) return std::nullopt;
  return result;
}

struct MediaType {
  std::string_view name;
  bool json;
  std::string_view content_type;
};

// For equal preference, the first one here is used.
constexpr std::array<MediaType, 5> k_types{{
    {"application/vnd.pypi.simple.v1+json", true, "application/vnd.pypi.simple.v1+json"},
    {"application/vnd.pypi.simple.latest+json", true, "application/vnd.pypi.simple.v1+json"},
    {"application/vnd.pypi.simple.v1+html", false, "application/vnd.pypi.simple.v1+html; charset=utf-8"},
    {"application/vnd.pypi.simple.latest+html", false, "application/vnd.pypi.simple.v1+html; charset=utf-8"},
    {"text/html", false, k_html_type},
}};

// "q=0.8" in thousandths; 1000 if it cannot be parsed.
unsigned quality(std::string_view parameters) {
  for (const std::string_view item : split(parameters, ';')) {
    const std::string_view word = trim(item);
    if (!word.starts_with("q=") && !word.starts_with("Q=")) continue;
    const std::string_view value = trim(word.substr(2));
    if (value.empty() || value.size() > 5 || (value[0] != '0' && value[0] != '1')) return 1000;
    if (value[0] == '1') return 1000;
    unsigned result = 0;
    unsigned place = 100;
    for (std::size_t i = 2; i < value.size() && value[1] == '.'; ++i) {
      if (value[i] < '0' || value[i] > '9') return 1000;
      result += static_cast<unsigned>(value[i] - '0') * place;
      place /= 10;
    }
    return result;
  }
  return 1000;
}

// The preference of a list of media ranges for a type: the most specific match counts (RFC 9110, 12.5.1). For equal
// preference, an exact name wins.
struct Preference {
  unsigned quality = 0;  // thousandths
  bool named = false;
  friend auto operator<=>(const Preference&, const Preference&) = default;
};

Preference preference_for(std::string_view accept, std::string_view type) {
  Preference result;
  int best = 0;
  for (const std::string_view item : split(accept, ',')) {
    const std::size_t semicolon = std::min(item.find(';'), item.size());
    const std::string range = to_lower(trim(item.substr(0, semicolon)));
    int rank = 0;
    if (range == "*/*") rank = 1;
    if (range.ends_with("/*") && range != "*/*" && type.starts_with(range.substr(0, range.size() - 1))) rank = 2;
    if (range == type) rank = 3;
    if (rank <= best) continue;
    best = rank;
    result = {quality(item.substr(semicolon)), rank == 3};
  }
  return result;
}

std::optional<std::string> format_of(std::string_view query) {
  for (const std::string_view item : split(query, '&')) {
    if (!item.starts_with("format=")) continue;
    std::string text;
    for (std::size_t i = 7; i < item.size(); ++i) {
      const bool escape =
          item[i] == '%' && item.size() - i > 2 && hex_value(item[i + 1]) >= 0 && hex_value(item[i + 2]) >= 0;
      text += escape ? static_cast<char>(hex_value(item[i + 1]) * 16 + hex_value(item[i + 2])) : item[i];
      if (escape) i += 2;
    }
    return text;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Request::header(std::string_view name) const {
  std::optional<std::string> result;
  for (const auto& [key, value] : headers) {
    if (key == name) result = result ? *result + ", " + value : value;
  }
  return result;
}

std::optional<Target> parse_target(std::string_view target) {
  // "GET http://host/path" is allowed to every client (RFC 9112, 3.2.2); the host is ignored.
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (to_lower(target.substr(0, scheme.size())) != scheme) continue;
    target.remove_prefix(std::min(target.find_first_of("/?", scheme.size()), target.size()));
    if (target.empty()) target = "/";
    break;
  }
  if (!target.starts_with('/') || target.size() > k_most_request) return std::nullopt;
  Target result;
  const std::size_t question = std::min(target.find('?'), target.size());
  if (question < target.size()) result.query = target.substr(question + 1);
  std::string_view path = target.substr(1, question - 1);
  if (path.find('#') != std::string_view::npos) return std::nullopt;
  result.folder = path.empty() || path.ends_with('/');
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) return target.starts_with("//") ? std::nullopt : std::optional(result);
  for (const std::string_view part : split(path, '/')) {
    const auto plain = decoded(part);
    if (!plain || plain->empty() || *plain == "." || *plain == ".." || plain->size() > 255) return std::nullopt;
    result.path += (result.path.empty() ? "" : "/") + *plain;
  }
  return result;
}

std::optional<PageChoice> choose_page(const std::optional<std::string>& accept, std::string_view query) {
  if (const auto format = format_of(query)) {
    for (const MediaType& type : k_types) {
      if (*format == type.name) return PageChoice{type.json, std::string(type.content_type)};
    }
    return std::nullopt;
  }
  if (!accept || trim(*accept).empty()) return PageChoice{false, std::string(k_html_type)};
  const MediaType* best = nullptr;
  Preference most;
  for (const MediaType& type : k_types) {
    const Preference preference = preference_for(*accept, type.name);
    // Clients that accept anything (curl, old tools) get the last one, plain HTML.
    const bool plain = &type == &k_types.back() && !preference.named;
    if (preference.quality > 0 && (preference > most || (plain && preference == most))) {
      most = preference;
      best = &type;
    }
  }
  if (best == nullptr) return std::nullopt;
  return PageChoice{best->json, std::string(best->content_type)};
}

ByteRange parse_range(const std::optional<std::string>& header, std::uint64_t size) {
  ByteRange whole{ByteRange::Kind::whole, 0, size};
  if (!header || to_lower(header->substr(0, 6)) != "bytes=") return whole;
  const std::string_view text = trim(std::string_view(*header).substr(6));
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos || text.find(',') != std::string_view::npos) return whole;
  const std::string_view first = trim(text.substr(0, dash));
  const std::string_view last = trim(text.substr(dash + 1));
  const auto begin = to_number(first);
  const auto end = to_number(last);
  if (first.empty()) {
    if (!end) return whole;
    if (*end == 0 || size == 0) return {ByteRange::Kind::unsatisfiable, 0, 0};
    return {ByteRange::Kind::part, size - std::min(size, *end), size};
  }
  if (!begin || (!last.empty() && (!end || *end < *begin))) return whole;
  if (*begin >= size) return {ByteRange::Kind::unsatisfiable, 0, 0};
  const std::uint64_t behind = last.empty() || *end >= size - 1 ? size : *end + 1;
  return {ByteRange::Kind::part, *begin, behind};
}

}  // namespace wheelsmith::index
