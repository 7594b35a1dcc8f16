#pragma once

#include <string>
#include <string_view>

namespace wheelsmith::report {

// How text is shown: what the terminal can do, as plain values (the report does not ask the system).
struct Style {
  bool colour = false;
  bool unicode = false;
  unsigned width = 100;
  bool details = false;  // --all: nothing is left out

  [[nodiscard]] std::string bold(std::string_view text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return paint("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return paint("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return paint("32", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return paint("33", text); }
  [[nodiscard]] std::string cyan(std::string_view text) const { return paint("36", text); }

  // A bar of `share` (0 to 1) of `cells` characters.
  [[nodiscard]] std::string bar(double share, unsigned cells) const;
  // The text in lines that fit the width behind an indent; the first line starts where the caller is.
  [[nodiscard]] std::string wrap(std::string_view text, std::size_t indent) const;

 private:
  [[nodiscard]] std::string paint(const char* code, std::string_view text) const;
};

// Columns that text takes on a terminal: two for wide characters (East Asian ones, emoji), none for combining ones.
std::size_t columns(std::string_view text);
// The text in at most so many columns; where something is cut off, it ends with "…", without Unicode "...".
std::string cut(std::string_view text, std::size_t width, bool unicode);
// Padded with blanks to a number of columns.
std::string pad_right(std::string_view text, std::size_t width);
std::string pad_left(std::string_view text, std::size_t width);

}  // namespace wheelsmith::report
