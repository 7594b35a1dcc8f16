#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// One line of a log: the tool's own text, without decoration by terminals, CI systems, docker and pip.

namespace wheelsmith::diagnose {

// The text without terminal escape sequences; `space` holds it where some had to go.
std::string_view without_escapes(std::string_view line, std::string& space);

struct Line {
  std::string_view text;   // trimmed; lives in the log's buffer or in the `space` of clean()
  std::size_t indent = 0;  // blanks before it, after what was removed
  bool in_tree = false;    // it came after a bar or a branch of pip's or uv's drawings
};

// Removes or replaces time stamps, "#12 34.5 ", "│ ", indentation, escapes and bytes that are not valid UTF-8.
Line clean(std::string_view raw, std::string& space);

// The kind of a line.
enum class Tone {
  plain,
  warning,  // "warning:", "-- Looking for …", "…Warning:": nothing that stops a build by itself
  command,  // the echo of a command: its words are flags, not messages
  quote,    // a line of source that a compiler or a traceback shows
};
Tone tone_of(std::string_view text);

// ninja's "[12/72]", with whatever else NINJA_STATUS puts beside it ("[12/72 3.214s]", "12/72 "), and make's "[ 16%]",
// at the start of a line.
struct Progress {
  std::uint64_t done = 0, total = 0;
};
std::optional<Progress> read_progress(std::string_view line);
// The line without its progress; the whole line, trimmed, when there is none.
std::string_view without_progress(std::string_view line);

// A line that looks as if a build system had printed a command of a compiler, with or without its progress before it.
bool is_compiler_command(std::string_view line);
// The command that a line echoes: a compiler's, or any behind a shell's "$ " or "+ ". "" when it is none.
std::string_view echoed_command(std::string_view line);

// Words of compilers and of the C library in other languages, each with what it is in English.
const std::vector<std::pair<std::string_view, std::string_view>>& translations();
std::string in_english(std::string_view line);

}  // namespace wheelsmith::diagnose
