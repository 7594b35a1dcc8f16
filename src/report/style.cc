#include "report/style.h"

#include <algorithm>
#include <cmath>

namespace wheelsmith::report {

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
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
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
