#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sys/terminal.h"

namespace wheelsmith::sys {

namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool wants_colour(bool is_terminal) {
  if (!variable("NO_COLOR").empty()) return false;
  for (const char* name : {"CLICOLOR_FORCE", "FORCE_COLOR"}) {
    if (!variable(name).empty() && variable(name) != "0") return true;
  }
  return is_terminal && variable("TERM") != "dumb";
}

bool has_unicode() {
  // The first one set wins, as in the C library.
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(variable(name));
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
    return value.find("UTF-8") != std::string::npos || value.find("UTF8") != std::string::npos;
  }
  return false;
}

unsigned columns(int fd, bool is_terminal) {
  const int asked = std::atoi(std::string(variable("COLUMNS")).c_str());
  if (asked >= 20) return static_cast<unsigned>(asked);
  winsize size{};
  if (is_terminal && ::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return is_terminal ? 80 : 100;
}

}  // namespace

Terminal standard_output(ColourChoice choice) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(STDOUT_FILENO) != 0;
  terminal.colour =
      choice == ColourChoice::automatic ? wants_colour(terminal.is_terminal) : choice == ColourChoice::always;
  terminal.unicode = has_unicode();
  terminal.width = columns(STDOUT_FILENO, terminal.is_terminal);
  return terminal;
}

bool output_and_errors_are_one() {
  struct stat output{};
  struct stat errors{};
  return ::fstat(STDOUT_FILENO, &output) == 0 && ::fstat(STDERR_FILENO, &errors) == 0 &&
         output.st_dev == errors.st_dev && output.st_ino == errors.st_ino;
}

void write_standard(Stream stream, std::string_view text) {
  const int fd = stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO;
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EAGAIN) {
      pollfd waiting{fd, POLLOUT, 0};
      ::poll(&waiting, 1, -1);
    } else if (written < 0 && errno != EINTR) {
      return;
    } else if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
}

bool standard_error_is_terminal() { return ::isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb"; }

unsigned standard_error_width() { return columns(STDERR_FILENO, ::isatty(STDERR_FILENO) == 1); }

bool all_streams_are_terminals() {
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

bool can_ask() { return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0; }

std::optional<std::string> read_answer() {
  constexpr std::size_t k_longest = 4096;
  std::string line;
  while (line.size() < k_longest) {
    char c = 0;
    const ssize_t size = ::read(STDIN_FILENO, &c, 1);
    if (size <= 0 && !(size < 0 && errno == EAGAIN)) return std::nullopt;
    if (size < 0) {
      pollfd waiting{STDIN_FILENO, POLLIN, 0};
      if (::poll(&waiting, 1, -1) < 0) return std::nullopt;
      continue;
    }
    if (c == '\n') return line;
    line += c;
  }
  return std::nullopt;
}

}  // namespace wheelsmith::sys
