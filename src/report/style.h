#pragma once

#include <string>
#include <string_view>

namespace wheelsmith::report {

// How to format text: the capabilities of the terminal as plain values. The report module does not query the system.
struct Style {
  bool colour = false;
  bool unicode = false;
  unsigned width = 100;
  bool details = false;  // --all: show everything

  [[nodiscard]] std::string bold(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return paint("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return paint("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return paint("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return paint("33", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return paint("36", text); }

  // A bar of `cells` characters, filled to `share` (0 to 1).
  [[nodiscard]] std::string bar(double share, unsigned cells) const;
  // Wraps text to the width, indenting all lines except the first, which continues the caller's line.
  [[nodiscard]] std::string wrap(std::string_view text, std::size_t indent) const;

 private:
  [[nodiscard]] std::string paint(const char* code, std::string_view text) const;
};

// The number of terminal columns of a text: two for wide characters (East Asian, emoji), none for combining characters.
std::size_t columns(std::string_view text);
// Truncates text to a number of columns; truncated text ends with "…", or "..." without Unicode.
std::string cut(std::string_view text, std::size_t width, bool unicode);
// Pads text with spaces to a number of columns.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

}  // namespace wheelsmith::report
