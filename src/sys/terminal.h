#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelsmith::sys {

enum class ColourChoice { automatic, always, never };

// What standard output can show.
struct Terminal {
  bool is_terminal = false;
  bool colour = false;
  bool unicode = false;
  unsigned width = 80;
};

// Honours NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR, TERM=dumb and COLUMNS; `choice` (from --color) overrides.
Terminal standard_output(ColourChoice choice);

// Whether standard output and standard error go to the same place, so that their lines mix.
bool output_and_errors_are_one();

enum class Stream { output, errors };
// All of it, past the buffers of <cstdio>, waiting where a reader is slow. Gives up when nobody reads any more.
void write_standard(Stream stream, std::string_view text);

// Whether status lines that are drawn over each other make sense.
bool standard_error_is_terminal();
// Its columns now; it may be resized at any time.
unsigned standard_error_width();
// Whether a person sits before all three: then another terminal can be put in their place.
bool all_streams_are_terminals();
// Whether a question on standard error can be answered on standard input by a person.
bool can_ask();
// The next line of standard input, without its end. Nothing at the end of the input, and when interrupted.
std::optional<std::string> read_answer();

}  // namespace wheelsmith::sys
