#pragma once

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

// Whether status lines that are drawn over each other make sense.
bool standard_error_is_terminal();

}  // namespace wheelsmith::sys
