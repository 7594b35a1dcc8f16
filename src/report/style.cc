#include "report/style.h"

#include <algorithm>
#include <cmath>

namespace wheelsmith::report {

namespace {

struct Range {
  char32_t first, last;
};
// The main ranges of wcwidth() in current C libraries: the characters that file names really contain.
constexpr Range k_wide[] = {{0x1100, 0x115f},  {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97c},
                            {0xac00, 0xd7a3},  {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                            {0xffe0, 0xffe6},  {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
                            {0x20000, 0x3fffd}};
constexpr Range k_combining[] = {{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
                                 {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};

template <std::size_t Size>
bool is_in(const Range (&ranges)[Size], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

struct Character {
  std::string_view text;
  std::size_t columns = 1;
};

// Removes and returns the first character; a byte that is not UTF-8 counts as one character.
Character take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  std::size_t size = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  char32_t code = size == 1 ? lead : lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) {
      size = 1;
      code = lead;
      break;
    }
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  const Character result{text.substr(0, size), is_in(k_combining, code) ? 0U : is_in(k_wide, code) ? 2U : 1U};
  text.remove_prefix(size);
  return result;
}

}  // namespace

std::string Style::paint(const char* code, std::string_view text) const {
  if (!colour || text.empty()) return std::string(text);
  return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
}

std::string Style::bar(double share, unsigned cells) const {
  static constexpr const char* k_eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double length = std::clamp(share, 0.0, 1.0) * cells;
  std::string result;
  if (!unicode) return std::string(static_cast<std::size_t>(std::lround(std::max(length, share > 0 ? 1.0 : 0.0))), '#');
  auto eighths = static_cast<unsigned>(std::lround(length * 8));
  if (share > 0) eighths = std::max(eighths, 1U);
  for (; eighths >= 8; eighths -= 8) result += "█";
  return result + k_eighths[eighths];
}

std::string Style::wrap(std::string_view text, std::size_t indent) const {
  const std::size_t room = width > indent + 20 ? width - indent : 20;
  std::string result;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    if (used > 0 && used + 1 + columns(word) > room) {
      result += "\n" + std::string(indent, ' ');
      used = 0;
    } else if (used > 0) {
      result += ' ';
      ++used;
    }
    result += word;
    used += columns(word);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

std::size_t columns(std::string_view text) {
  std::size_t sum = 0;
  while (!text.empty()) sum += take_character(text).columns;
  return sum;
}

std::string cut(std::string_view text, std::size_t width, bool unicode) {
  if (columns(text) <= width) return std::string(text);
  const std::string_view mark = unicode ? "…" : "...";
  if (width < columns(mark)) return std::string(width, '.');
  std::string result;
  for (std::size_t room = width - columns(mark); !text.empty();) {
    const Character next = take_character(text);
    if (next.columns > room) break;
    room -= next.columns;
    result += next.text;
  }
  return result + std::string(mark);
}

std::string pad_right(std::string_view text, std::size_t width) {
  const std::size_t used = columns(text);
  return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t used = columns(text);
  return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

}  // namespace wheelsmith::report
