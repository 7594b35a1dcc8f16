#include "base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace wheelsmith {

namespace {

constexpr std::string_view k_blanks = " \t\r\n\f\v";

// Length of the UTF-8 character at the front, 0 if invalid. Surrogates and overlong forms are invalid.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;
  if (first == 0xed && byte(1) > 0x9f) return 0;
  if (first == 0xf0 && byte(1) < 0x90) return 0;
  if (first == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

// Edit distance: characters changed, added, removed, or swapped with their neighbour (the most frequent typo).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

// Matches the set after '['; moves `pattern` past its ']'. A set that never ends matches a plain '['.
bool set_match(std::string_view& pattern, char c) {
  std::string_view rest = pattern.substr(1);
  const bool inverted = !rest.empty() && (rest[0] == '!' || rest[0] == '^');
  if (inverted) rest.remove_prefix(1);
  const std::size_t end = rest.find(']', 1);
  if (end == std::string_view::npos) {
    pattern.remove_prefix(1);
    return c == '[';
  }
  bool hit = false;
  for (std::size_t i = 0; i < end; ++i) {
    if (i + 2 < end && rest[i + 1] == '-') {
      hit = hit || (rest[i] <= c && c <= rest[i + 2]);
      i += 2;
    } else {
      hit = hit || rest[i] == c;
    }
  }
  pattern = rest.substr(end + 1);
  return hit != inverted;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(k_blanks) - begin + 1);
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    result.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += separator;
    result += parts[i];
  }
  return result;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_one_of(std::string_view word, std::span<const std::string> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0)
      result += "\xef\xbf\xbd";
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const auto first = static_cast<std::uint8_t>(text[0]);
    // U+0080 to U+009F are control characters too: some terminals interpret them.
    const bool is_c1 = length == 2 && first == 0xc2 && static_cast<std::uint8_t>(text[1]) < 0xa0;
    // U+202A to U+202E and U+2066 to U+2069 reverse the order of what follows: a name would look like another one.
    const auto second = static_cast<std::uint8_t>(length == 3 ? text[1] : '\0');
    const auto third = static_cast<std::uint8_t>(length == 3 ? text[2] : '\0');
    const bool turns = first == 0xe2 && ((second == 0x80 && third >= 0xaa && third <= 0xae) ||
                                         (second == 0x81 && third >= 0xa6 && third <= 0xa9));
    if (turns) {
      result += fmt::format("\\u{:04x}", 0x2000 + (second - 0x80) * 0x40 + (third - 0x80));
    } else if (length == 0 || first < 0x20 || first == 0x7f) {
      result += fmt::format("\\x{:02x}", first);
    } else if (is_c1) {
      result += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(text[1]));
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string human_bytes(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  static constexpr const char* k_units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  while (value >= 999.5 && unit + 1 < std::size(k_units)) {
    value /= 1000;
    ++unit;
  }
  return value < 9.95 ? fmt::format("{:.1f} {}", value, k_units[unit]) : fmt::format("{:.0f} {}", value, k_units[unit]);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string replaced;
  std::size_t done = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, done)) {
    replaced.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  if (done == 0) return;
  text = replaced.append(text, done);
}

bool glob_match(std::string_view pattern, std::string_view text) {
  // After a mismatch, returns to the last '*' and lets it match one character more. No recursion, so a hostile pattern
  // costs at most pattern × text.
  std::string_view after_star;
  std::string_view star_text;
  bool has_star = false;
  while (!text.empty()) {
    if (!pattern.empty() && pattern[0] == '*') {
      pattern.remove_prefix(1);
      after_star = pattern;
      star_text = text;
      has_star = true;
      continue;
    }
    bool matched = false;
    if (!pattern.empty()) {
      if (pattern[0] == '[') {
        matched = set_match(pattern, text[0]);
      } else {
        matched = pattern[0] == '?' || pattern[0] == text[0];
        pattern.remove_prefix(1);
      }
    }
    if (matched) {
      text.remove_prefix(1);
      continue;
    }
    if (!has_star) return false;
    star_text.remove_prefix(1);
    text = star_text;
    pattern = after_star;
  }
  return pattern.find_first_not_of('*') == std::string_view::npos;
}

std::optional<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    // The lengths alone differ too much: avoids a table of 100,000 columns if a whole file was passed as a name.
    const std::size_t apart = std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (apart >= best_distance) continue;
    const std::size_t distance = edit_distance(to_lower(word), to_lower(candidate));
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best != nullptr ? std::optional(*best) : std::nullopt;
}

}  // namespace wheelsmith
