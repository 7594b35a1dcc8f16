// What a build system puts before a line to say how far it is. ninja prints what NINJA_STATUS asks for: by default
// "[%f/%t] ", ours is "[%f/%t %es] ", and users add rates, percentages and times in any order. Whatever the order, one
// word is "done/total" or ends in "%". Without brackets only "done/total" at the very start counts: "100% tests passed"
// is a message.

#include <algorithm>

#include "base/text.h"
#include "diagnose/line.h"

namespace wheelsmith::diagnose {

namespace {

constexpr std::size_t k_longest_status = 48;

struct Status {
  Progress progress;
  std::string_view rest;  // of the line, behind it
};

std::optional<Progress> read_count(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash == word.npos) return std::nullopt;
  const auto done = to_number(word.substr(0, slash)), total = to_number(word.substr(slash + 1));
  if (!done || !total || *total == 0 || *done > *total) return std::nullopt;
  return Progress{*done, *total};
}

std::optional<Progress> read_percentage(std::string_view word) {
  if (!word.ends_with('%')) return std::nullopt;
  const auto percent = to_number(word.substr(0, word.size() - 1));
  if (!percent || *percent > 100) return std::nullopt;
  return Progress{*percent, 100};
}

// "11/16 12:00:01": the time of a message. ninja's elapsed time reaches two digits of hours after ten of them.
bool is_date(const Progress& count, std::string_view other) {
  return count.done <= 31 && count.total <= 31 && other.size() >= 8 && other[2] == ':' && other[5] == ':' &&
         std::all_of(other.begin(), other.begin() + 2, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<Progress> read_words(std::string_view inside) {
  std::optional<Progress> count, percentage;
  std::string_view after;
  while (!inside.empty()) {
    const std::size_t start = inside.find_first_not_of(" |,;");
    if (start == inside.npos) break;
    const std::size_t end = std::min(inside.find_first_of(" |,;", start), inside.size());
    const std::string_view word = inside.substr(start, end - start);
    inside.remove_prefix(end);
    if (count && after.empty()) after = word;
    if (!count) count = read_count(word);
    if (!percentage) percentage = read_percentage(word);
  }
  if (count && is_date(*count, after)) return std::nullopt;
  return count ? count : percentage;
}

std::optional<Status> read_status(std::string_view line) {
  // ninja on a terminal rewrites its line; the last state is what counts.
  if (const std::size_t start = line.rfind('\r'); start != line.npos && start + 1 < line.size())
    line.remove_prefix(start + 1);
  line = trim(line);
  if (line.empty()) return std::nullopt;
  if (line.front() == '[' || line.front() == '(') {
    const std::size_t end = line.find(line.front() == '[' ? ']' : ')');
    if (end > k_longest_status) return std::nullopt;
    const auto progress = read_words(line.substr(1, end - 1));
    return progress ? std::optional<Status>({*progress, trim(line.substr(end + 1))}) : std::nullopt;
  }
  const std::size_t blank = line.find(' ');
  if (blank > k_longest_status) return std::nullopt;
  const auto progress = read_count(line.substr(0, blank));
  const std::string_view rest = trim(line.substr(blank));
  if (!progress || is_date(*progress, rest)) return std::nullopt;
  return Status{*progress, rest};
}

}  // namespace

std::optional<Progress> read_progress(std::string_view line) {
  const auto status = read_status(line);
  return status ? std::optional<Progress>(status->progress) : std::nullopt;
}

std::string_view without_progress(std::string_view line) {
  const auto status = read_status(line);
  return status ? status->rest : trim(line);
}

}  // namespace wheelsmith::diagnose
