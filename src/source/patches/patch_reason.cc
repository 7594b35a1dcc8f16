// Why a patch does not apply. "patch failed: setup.py:40" leaves users searching; they want to see the line that
// differs from the patch. A hunk contains the lines it expects, so it is matched where most of them fit, and the first
// mismatch there is the answer.

#include "source/patches/patch_reason.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace wheelsmith::source {

namespace {

constexpr std::size_t k_most_lines = 200'000;
constexpr std::size_t k_widest = 80;

// "12" of "@@ -12,3 +12,4 @@".
std::optional<std::uint64_t> first_line(std::string_view header) {
  if (!header.starts_with("@@ -")) return {};
  header.remove_prefix(4);
  return to_number(header.substr(0, header.find_first_not_of("0123456789")));
}

// The lines that the hunk expects.
std::vector<std::string_view> expected_lines(std::string_view patch, const PatchFailure& failure) {
  std::vector<std::string_view> result;
  std::string_view file;
  bool inside = false;
  for (const std::string_view line : lines(patch)) {
    if (inside) {
      if (line.empty() || line[0] == ' ' || line[0] == '-') {
        if (line.starts_with("-- ")) break;
        result.push_back(line.empty() ? line : line.substr(1));
      } else if (line[0] != '+' && line[0] != '\\') {
        break;
      }
      continue;
    }
    if (line.starts_with("--- ") || line.starts_with("+++ ")) {
      const std::string_view name = line.substr(4, line.find('\t') - 4);
      if (name != "/dev/null") file = name.substr(name.find('/') + 1);
    }
    inside = file == failure.file && first_line(line) == failure.line;
  }
  return result;
}

std::string quoted_text(std::string_view line) {
  std::string shown = printable(line.substr(0, k_widest));
  if (line.size() > k_widest) shown += "…";
  return "\"" + shown + "\"";
}

}  // namespace

PatchFailure git_failure(const std::string& errors, const std::vector<PatchedFile>& files) {
  constexpr std::string_view k_failed = "error: patch failed: ";
  constexpr std::string_view k_error = "error: ";
  for (std::string_view line : lines(errors)) {
    if (line.starts_with(k_failed)) {
      line.remove_prefix(k_failed.size());
      const std::size_t colon = line.rfind(':');
      if (colon == std::string_view::npos) continue;
      const std::string file(line.substr(0, colon));
      const auto at = to_number(line.substr(colon + 1));
      for (const PatchedFile& touched : files) {
        const auto found = touched.name == file && at ? std::find(touched.hunks.begin(), touched.hunks.end(), *at)
                                                      : touched.hunks.end();
        if (found == touched.hunks.end()) continue;
        return {file, fmt::format("hunk {} (line {})", found - touched.hunks.begin() + 1, *at), at};
      }
      return {file, fmt::format("line {}", line.substr(colon + 1)), at};
    }
    if (!line.starts_with(k_error)) continue;
    line.remove_prefix(k_error.size());
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos)
      return {std::string(line.substr(0, colon)), std::string(line.substr(colon + 2)), {}};
  }
  return {"", std::string(trim(errors)), {}};
}

std::string what_is_there(std::string_view patch, const PatchFailure& failure, std::string_view text) {
  if (!failure.line || failure.file.empty()) return "";
  const std::vector<std::string_view> wanted = expected_lines(patch, failure);
  const std::vector<std::string_view> found = lines(text);
  if (wanted.empty() || found.size() > k_most_lines || wanted.size() > 1000) return "";
  const std::size_t nominal = *failure.line > 0 ? *failure.line - 1 : 0;
  std::size_t best = nominal;
  std::size_t best_score = 0;
  const auto score_at = [&](std::size_t start) {
    std::size_t score = 0;
    for (std::size_t i = 0; i < wanted.size() && start + i < found.size(); ++i)
      score += wanted[i] == found[start + i] ? (trim(wanted[i]).empty() ? 1 : 2) : 0;
    return score;
  };
  for (std::size_t start = 0; start < found.size(); ++start) {
    const std::size_t score = score_at(start);
    const auto distance = [&](std::size_t place) { return place > nominal ? place - nominal : nominal - place; };
    if (score > best_score || (score == best_score && score > 0 && distance(start) < distance(best))) {
      best = start;
      best_score = score;
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t at = best + i;
    if (at >= found.size())
      return fmt::format("it expects {} at line {}, but the file ends at line {}", quoted_text(wanted[i]), at + 1,
                         found.size());
    if (wanted[i] != found[at])
      return fmt::format("it expects {}, but line {} is {}", quoted_text(wanted[i]), at + 1, quoted_text(found[at]));
  }
  return "";
}

}  // namespace wheelsmith::source
