#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelsmith::sys {

enum class ColourChoice { automatic, always, never };

// Capabilities of standard output.
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
// Writes everything, bypassing <cstdio> buffers, and waits for slow readers. Gives up when the reader is gone.
void write_standard(Stream stream, std::string_view text);

// Whether redrawn status lines make sense.
bool standard_error_is_terminal();
// Its current width; it may be resized at any time.
unsigned standard_error_width();
// Whether all three streams are a terminal: then a pseudo-terminal can replace them.
bool all_streams_are_terminals();
// Whether a user can answer a question on standard error through standard input.
bool can_ask();
// The next line of standard input, without its end. Nothing at the end of the input, and when interrupted.
std::optional<std::string> read_answer();

}  // namespace wheelsmith::sys
