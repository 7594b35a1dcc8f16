#include <cctype>

#include "base/text.h"
#include "run/run.h"

namespace wheelsmith::run {

namespace {

std::string_view skip_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  return text;
}

}  // namespace

// "[12/72] Building CUDA object …" of ninja, "[ 16%] Building CXX object …" of CMake's makefiles.
std::optional<Progress> read_progress(std::string_view line) {
  // ninja on a terminal rewrites its line; the last state is what counts.
  if (const std::size_t start = line.rfind('\r'); start != line.npos && start + 1 < line.size())
    line.remove_prefix(start + 1);
  line = skip_blanks(line);
  const std::size_t end = line.find(']');
  if (line.empty() || line.front() != '[' || end == line.npos || end > 24) return std::nullopt;
  const std::string_view inside = skip_blanks(line.substr(1, end - 1));
  if (inside.ends_with('%')) {
    const auto percent = to_number(inside.substr(0, inside.size() - 1));
    return percent && *percent <= 100 ? std::optional<Progress>({*percent, 100}) : std::nullopt;
  }
  const std::size_t slash = inside.find('/');
  if (slash == inside.npos) return std::nullopt;
  const auto done = to_number(inside.substr(0, slash));
  const auto total = to_number(inside.substr(slash + 1));
  if (!done || !total || *total == 0 || *done > *total) return std::nullopt;
  return Progress{*done, *total};
}

}  // namespace wheelsmith::run
