// URLs by RFC 3986, as far as links need it: the five parts, and a reference read against a base.
//
//   https://user@host:8080/a/b?query#fragment
//   scheme  authority      path query fragment
//
// Nothing is rejected here; a text without a scheme is a path, and the caller decides what may be fetched.

#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "pep/project/project_page.h"
#include "pep/scanner.h"

namespace wheelsmith::pep {

namespace {

struct Url {
  std::optional<std::string_view> scheme, authority;
  std::string_view path;
  std::optional<std::string_view> query, fragment;
};

std::optional<std::string_view> cut_behind(std::string_view& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(at + 1);
  text = text.substr(0, at);
  return rest;
}

bool is_scheme(std::string_view text) {
  if (text.empty() || !is_alpha(text[0])) return false;
  for (const char c : text) {
    if (!is_alnum(c) && c != '+' && c != '-' && c != '.') return false;
  }
  return true;
}

Url parse(std::string_view text) {
  Url url;
  url.fragment = cut_behind(text, '#');
  url.query = cut_behind(text, '?');
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
    url.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const std::size_t slash = std::min(text.find('/'), text.size());
    url.authority = text.substr(0, slash);
    text.remove_prefix(slash);
  }
  url.path = text;
  return url;
}

// RFC 3986, 5.2.4. Each part is appended once and removed at most once.
std::string without_dots(std::string_view path) {
  std::string result;
  const bool absolute = path.starts_with('/');
  std::size_t at = absolute ? 1 : 0;
  bool open = false;  // the last part was a dot: the result ends in '/'
  std::vector<std::size_t> begins;
  while (at <= path.size()) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, end - at);
    open = part == "." || part == "..";
    if (part == ".." && !begins.empty()) {
      result.resize(begins.back());
      begins.pop_back();
    } else if (!open) {
      begins.push_back(result.size());
      if (absolute || begins.size() > 1) result += '/';
      result += part;
    }
    at = end + 1;
  }
  if (open && (absolute || !result.empty())) result += '/';
  return result;
}

std::string merged_path(const Url& base, std::string_view path) {
  if (base.authority && base.path.empty()) return "/" + std::string(path);
  const std::size_t slash = base.path.rfind('/');
  return std::string(base.path.substr(0, slash == std::string_view::npos ? 0 : slash + 1)) + std::string(path);
}

std::string to_text(const Url& url, std::string_view path) {
  std::string text;
  if (url.scheme) text += std::string(*url.scheme) + ":";
  if (url.authority) text += "//" + std::string(*url.authority);
  text += path;
  if (url.query) text += "?" + std::string(*url.query);
  if (url.fragment) text += "#" + std::string(*url.fragment);
  return text;
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string resolve_url(std::string_view base_text, std::string_view reference) {
  const Url base = parse(base_text);
  Url url = parse(reference);
  if (url.scheme) return to_text(url, without_dots(url.path));
  url.scheme = base.scheme;
  if (url.authority) return to_text(url, without_dots(url.path));
  url.authority = base.authority;
  if (url.path.empty()) {
    if (!url.query) url.query = base.query;
    return to_text(url, base.path);
  }
  if (url.path.starts_with('/')) return to_text(url, without_dots(url.path));
  return to_text(url, without_dots(merged_path(base, url.path)));
}

std::string percent_decoded(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && text.size() - i > 2) {
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high >= 0 && low >= 0) {
        result += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    result += text[i];
  }
  return result;
}

std::string percent_encoded(std::string_view text) {
  static constexpr char k_digits[] = "0123456789ABCDEF";
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > 0x20 && byte < 0x7f && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
    if (plain) {
      result += c;
    } else {
      result += {'%', k_digits[byte >> 4], k_digits[byte & 15]};
    }
  }
  return result;
}

std::optional<std::string> path_of_file_url(std::string_view url) {
  const Url parts = parse(url);
  if (!parts.scheme || to_lower(*parts.scheme) != "file" || !parts.path.starts_with('/')) return std::nullopt;
  return percent_decoded(parts.path);
}

std::string file_url(std::string_view absolute_path) {
  std::string escaped;
  for (const char character : absolute_path) {
    const bool special = character == '%' || character == '#' || character == '?';
    escaped += special ? fmt::format("%{:02X}", static_cast<unsigned>(character)) : std::string(1, character);
  }
  return "file://" + percent_encoded(escaped);
}

bool is_safe_file_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name[0] == '.' || name[0] == '-') return false;
  for (const char c : name) {
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return is_valid_utf8(name);
}

}  // namespace wheelsmith::pep
