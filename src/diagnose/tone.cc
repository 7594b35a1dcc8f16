// How a line is meant: a message, a warning, quoted source, or the echo of a command, whose words are flags.

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "diagnose/line.h"

namespace wheelsmith::diagnose {

namespace {

// The first word of a command, without its folder and version: "/usr/bin/x86_64-linux-gnu-g++-12" is "g++".
bool is_compiler(std::string_view word) {
  while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
  while (!word.empty() && (word.back() == '"' || word.back() == '\'')) word.remove_suffix(1);
  word = base_name(word);
  if (word.ends_with(".exe")) word.remove_suffix(4);
  if (const std::size_t dash = word.rfind('-');
      dash != word.npos && dash + 1 < word.size() && word.find_first_not_of("0123456789.", dash + 1) == word.npos)
    word = word.substr(0, dash);
  for (const std::string_view name : {"gcc", "g++", "cc", "c++", "clang", "clang++", "nvcc", "hipcc", "ld", "ar",
                                      "cmake", "ccache", "sccache", "cl"}) {
    if (word == name ||
        (word.ends_with(name) && word.size() > name.size() && word[word.size() - name.size() - 1] == '-'))
      return true;
    if (word.starts_with(name) && word.size() > name.size() && word[name.size()] == '-') return true;
  }
  return false;
}

constexpr std::string_view k_warning_starts[] = {
    "-- ",
    "WARNING:",
    "Warning:",
    "warning:",
    "WARN ",
    "[WARNING]",
    "[warn",
    "CMake Warning",
    "CMake Deprecation Warning",
    "checking ",
    "note:",
    "Performing C SOURCE FILE",
    "Performing C++ SOURCE FILE",
    "WARNING ",
    "INFO:",
    "DEBUG:",
    "Looking for ",
    "DEPRECATION:",
    "hint:",
    "HINT:",
};

// "   12 | int x;", "      |   ^~~", the line of a traceback that raises, whose message comes again as the exception's,
// and the source that Python prints below a warning.
bool is_quoted_source(std::string_view text) {
  if (text.starts_with("raise ") || text.starts_with("| ") || text.starts_with('"')) return true;
  const std::string_view called = text.substr(0, std::min(text.find('('), text.size()));
  if (called.size() < 40 && called.find(' ') == called.npos &&
      (called.ends_with("warn") || called.ends_with("warning") || called.ends_with("warn_explicit")) &&
      called.size() < text.size())
    return true;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && text.substr(digits, 2) == " |";
}

}  // namespace

Tone tone_of(std::string_view text) {
  if (!echoed_command(text).empty()) return Tone::command;
  if (is_quoted_source(text)) return Tone::quote;
  if (text.starts_with("-- Configuring incomplete")) return Tone::plain;
  if (std::any_of(std::begin(k_warning_starts), std::end(k_warning_starts),
                  [&](std::string_view start) { return text.starts_with(start); }))
    return Tone::warning;
  // "a.cc:3:5: warning: …", "a.cu(12): warning #177-D: …", "x.py:12: DeprecationWarning: …"
  const std::string_view head = text.substr(0, 400);
  for (const std::string_view word :
       {": warning: ", ": warning #", "Warning: ", ": note: ", " warning : ", ": remark: "}) {
    const std::size_t at = head.find(word);
    if (at == head.npos) continue;
    const std::size_t error = std::min(head.find("error:"), head.find("Error:"));
    if (at < error) return Tone::warning;
  }
  return Tone::plain;
}

std::string_view echoed_command(std::string_view line) {
  line = trim(line);
  if (is_compiler_command(line)) return line;
  for (const std::string_view prompt : {"$ ", "+ ", "++ ", "> $ ", "Running command ", "RUN "}) {
    if (line.starts_with(prompt)) return trim(line.substr(prompt.size()));
  }
  return {};
}

bool is_compiler_command(std::string_view line) {
  line = without_progress(trim(line));
  // "cd /x && /usr/bin/c++ …", "+ g++ …", "ccache g++ …", "CXX=… nvcc …"
  if (line.starts_with("+ ")) line = trim(line.substr(2));
  if (line.starts_with("cd ")) {
    const std::size_t both = line.substr(0, 4096).find(" && ");
    if (both != line.npos) line = trim(line.substr(both + 4));
  }
  const std::size_t blank = line.find(' ');
  if (blank == line.npos || blank == 0 || line[blank - 1] == ':') return false;
  if (!is_compiler(line.substr(0, blank))) return false;
  // "nvcc fatal   : …" is what it says, not what it was told.
  const std::string_view second = trim(line.substr(blank));
  for (const std::string_view word : {"(", "fatal", "error", "warning", "info", "terminated", "returned", "failed"}) {
    if (second.starts_with(word)) return false;
  }
  // "cc is a compiler" is prose, "gcc -c x.c" is none.
  return line.find(" -") != line.npos || line.find(" /") != line.npos;
}

}  // namespace wheelsmith::diagnose
