// Finds the command that failed first. The last lines of a parallel build's log do not help: they belong to commands
// that were still running when the first one failed, followed by the build systems' own closing messages. The finder
// reads only structure:
//
//   ninja     FAILED: out.o            then the command on its own line, then its output, up to the next
//                                      "[12/72]" line, the next "FAILED:" or "ninja: …"
//   make      the command's line, its output, then "make[2]: *** [rule.make:76: out.o] Error 1"
//   distutils the command's line, its output, then "error: command '…' failed with exit code 1"
//   setuptools the output, then "error: Command '['cc', …]' returned non-zero exit status 1."
//   folders   "ninja: Entering directory `build'", "make[1]: Entering directory '/…'", CMake's "Change Dir: '/…'"
//   Python    "Traceback (most recent call last):" up to the exception's line
//
// The first one wins. `diagnose` explains its cause and fix.

#include "run/failure_finder.h"

#include <deque>

#include "base/text.h"
#include "diagnose/line.h"

namespace wheelsmith::run {

namespace {

constexpr std::size_t k_most_output = 64 << 10;
constexpr std::size_t k_most_line = 64 << 10;
// How far above the failure line the command's line may be.
constexpr std::size_t k_most_lines_back = 400;
constexpr std::size_t k_most_folder = 4096;

bool is_make_failure(std::string_view line) {
  const std::size_t stars = line.find(": *** [");
  return stars != line.npos && (line.starts_with("make") || line.starts_with("gmake")) &&
         line.find("] Error ") != line.npos;
}

bool is_distutils_failure(std::string_view line) {
  return line.starts_with("error: command '") && line.find("' failed") != line.npos;
}

// setuptools 80 and later do not print commands, and report a failed one as a Python list: "error: Command '['cc',
// '-c']' returned non-zero exit status 1." Returns the command as shell text; "" when the line does not match.
std::string listed_command(std::string_view line) {
  constexpr std::string_view k_start = "error: Command '[";
  if (!line.starts_with(k_start) || line.find("]' returned non-zero") == line.npos) return {};
  line.remove_prefix(k_start.size());
  std::string command;
  while (!line.empty() && (line.front() == '\'' || line.front() == '"')) {
    const std::size_t end = line.find(line.front(), 1);
    if (end == line.npos) return {};
    const std::string_view argument = line.substr(1, end - 1);
    const bool plain = argument.find_first_of(" \t\"'\\$`*?;&|<>()#~") == argument.npos && !argument.empty();
    if (argument.find('\'') != argument.npos) return {};
    command += (command.empty() ? "" : " ") + (plain ? std::string(argument) : "'" + std::string(argument) + "'");
    line.remove_prefix(end + 1);
    if (line.starts_with(", ")) line.remove_prefix(2);
  }
  return command;
}

// Where the output of setuptools' last command begins, as far as that is visible without the command line.
bool is_before_output(std::string_view line) {
  return line == "!!" || line.starts_with("building '") || line.starts_with("running ") ||
         line.starts_with("warning: build_py:");
}

// "Entering directory `build'" and "Change Dir: /x": the folder that a build system reports entering.
std::string_view entered_folder(std::string_view line) {
  for (const std::string_view words : {"ninja: Entering directory ", "]: Entering directory ", "Change Dir: "}) {
    const std::size_t at = line.find(words);
    if (at == line.npos || (at != 0 && !words.starts_with(']'))) continue;
    std::string_view folder = trim(line.substr(at + words.size()));
    if (!folder.empty() && (folder.front() == '`' || folder.front() == '\'')) folder.remove_prefix(1);
    if (!folder.empty() && folder.back() == '\'') folder.remove_suffix(1);
    return folder.substr(0, k_most_folder);
  }
  return {};
}

// "FAILED: [code=1] a.o b.o" -> "a.o"
std::string_view first_product(std::string_view line) {
  line = trim(line.substr(std::string_view("FAILED: ").size()));
  if (line.starts_with("[code=")) line = trim(line.substr(std::min(line.size(), line.find(']') + 1)));
  return line.substr(0, std::min(line.find(' '), k_most_folder));
}

}  // namespace

struct FailureFinder::State {
  std::string partial;
  std::uint64_t line = 0;
  std::string folder;
  std::deque<std::string> recent;
  std::optional<FirstFailure> found;
  std::optional<FirstFailure> traceback;
  enum class Mode { outside, ninja_command, ninja_output, in_traceback } mode = Mode::outside;

  void take(std::string_view text);
  void take_ninja_output(std::string_view text);
  void blame_recent(std::string_view last);
  void blame_listed(std::string command, std::string_view last);
};

void FailureFinder::State::take_ninja_output(std::string_view text) {
  const bool ends = diagnose::read_progress(text) || text.starts_with("FAILED: ") || text.starts_with("ninja: ");
  if (ends) {
    mode = Mode::outside;
  } else if (found->output.size() < k_most_output) {
    found->output += std::string(text) + "\n";
  }
}

// make and distutils report the failure after the command's output: the command is the nearest one above.
void FailureFinder::State::blame_recent(std::string_view last) {
  FirstFailure failure;
  failure.line = line;
  std::size_t from = recent.size();
  while (from > 0 && !diagnose::is_compiler_command(recent[from - 1])) --from;
  if (from > 0) {
    failure.command = std::string(trim(recent[from - 1]));
    failure.line = line - (recent.size() - from) - 1;
  } else {
    from = recent.size() > 20 ? recent.size() - 20 : 0;
  }
  for (std::size_t i = from; i < recent.size(); ++i) failure.output += recent[i] + "\n";
  failure.output += std::string(last) + "\n";
  found = std::move(failure);
}

void FailureFinder::State::blame_listed(std::string command, std::string_view last) {
  FirstFailure failure;
  failure.command = std::move(command);
  std::size_t from = recent.size();
  while (from > 0 && !is_before_output(recent[from - 1])) --from;
  failure.line = line - (recent.size() - from);
  for (std::size_t i = from; i < recent.size(); ++i) failure.output += recent[i] + "\n";
  failure.output += std::string(last.substr(last.rfind("]' ") + 3)) + "\n";
  found = std::move(failure);
}

void FailureFinder::State::take(std::string_view raw) {
  ++line;
  std::string space;
  const std::string_view text = diagnose::without_escapes(raw, space);
  switch (mode) {
    case Mode::ninja_command:
      // Newer ninja versions print the exit code before the names; the command is always on the next line.
      found->command = std::string(text);
      mode = Mode::ninja_output;
      return;
    case Mode::ninja_output: take_ninja_output(text); return;
    case Mode::in_traceback:
      traceback->output += std::string(text) + "\n";
      if (!text.empty() && text.front() != ' ') mode = Mode::outside;
      return;
    case Mode::outside: break;
  }
  if (found) return;
  if (const std::string_view entered = entered_folder(text); !entered.empty()) folder = entered;
  if (text.starts_with("FAILED: ")) {
    found = FirstFailure{};
    found->line = line;
    found->folder = folder;
    found->product = std::string(first_product(text));
    mode = Mode::ninja_command;
  } else if (is_make_failure(text) || is_distutils_failure(text)) {
    blame_recent(text);
    if (is_make_failure(text)) found->folder = folder;
  } else if (std::string command = listed_command(text); !command.empty()) {
    blame_listed(std::move(command), text);
  } else if (text.starts_with("Traceback (most recent call last):") && !traceback) {
    traceback = FirstFailure{};
    traceback->line = line;
    traceback->output = std::string(text) + "\n";
    mode = Mode::in_traceback;
  }
  recent.emplace_back(text.substr(0, k_most_line));
  if (recent.size() > k_most_lines_back) recent.pop_front();
}

void FailureFinder::feed(std::string_view text) {
  if (!m_state) m_state = std::make_shared<State>();
  State& state = *m_state;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    const std::string_view piece = text.substr(start, end == text.npos ? text.npos : end - start);
    // A line that never ends is truncated.
    if (state.partial.size() < k_most_line) state.partial += piece.substr(0, k_most_line);
    if (end == text.npos) break;
    if (state.partial.ends_with('\r')) state.partial.pop_back();
    state.take(state.partial);
    state.partial.clear();
    start = end + 1;
  }
}

std::optional<FirstFailure> FailureFinder::first() const {
  if (!m_state) return std::nullopt;
  if (m_state->found) return m_state->found;
  if (m_state->traceback) return m_state->traceback;
  if (m_state->recent.empty()) return std::nullopt;
  // No known failure pattern: show the last lines.
  FirstFailure failure;
  const std::size_t from = m_state->recent.size() > 20 ? m_state->recent.size() - 20 : 0;
  failure.line = m_state->line - (m_state->recent.size() - from) + 1;
  for (std::size_t i = from; i < m_state->recent.size(); ++i) failure.output += m_state->recent[i] + "\n";
  return failure;
}

}  // namespace wheelsmith::run
