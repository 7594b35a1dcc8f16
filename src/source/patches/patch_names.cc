// A unified diff, as far as needed to know which files it touches:
//
//   patch = ( prose | "diff --git …" | header )*        header = "rename to X" and the like, "new file mode 100644"
//   file  = "--- a/name" "+++ b/name" hunk+             names may be in C quotes, with a time behind a tab
//   hunk  = "@@ -first[,count] +first[,count] @@" line*   each line ' ', '-' or '+'; '\' does not count
//
// The counts matter: a removed line "-- x" reads "--- x", and only they show that it is not a header.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "source/patches/patch.h"

namespace wheelsmith::source {

namespace {

// A C-quoted name, as git writes names with unusual bytes.
std::string unquoted(std::string_view text) {
  if (!text.starts_with('"')) return std::string(text);
  std::string name;
  for (std::size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      name += text[i];
      continue;
    }
    const char escape = text[++i];
    if (escape >= '0' && escape <= '3' && i + 2 < text.size()) {
      const int value = (escape - '0') * 64 + (text[i + 1] - '0') * 8 + (text[i + 2] - '0');
      name += static_cast<char>(value);
      i += 2;
    } else {
      constexpr std::string_view k_letters = "abtnvfr";
      const std::size_t letter = k_letters.find(escape);
      name += letter == std::string_view::npos ? escape : static_cast<char>('\a' + static_cast<int>(letter));
    }
  }
  return name;
}

std::string name_in(std::string_view text) {
  if (!text.starts_with('"')) text = text.substr(0, text.find('\t'));
  return unquoted(trim(text));
}

void check_name(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    throw Error(fmt::format("it touches {}, {}", printable(name), why));
  };
  if (name.starts_with('/')) refuse("an absolute path");
  if (name.find('\0') != std::string_view::npos) refuse("which is not a file name");
  for (const std::string_view part : split(name, '/')) {
    if (part == "..") refuse("which is outside the source");
    if (to_lower(part) == ".git") refuse("which belongs to git");
  }
}

std::string without_first_part(std::string name) {
  const std::size_t slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(slash + 1);
}

struct Hunk {
  std::uint64_t first = 0, old_lines = 0, new_lines = 0;
};

// "12,3" or "12".
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_range(std::string_view text) {
  const std::size_t comma = text.find(',');
  const auto first = to_number(text.substr(0, comma));
  const auto count =
      comma == std::string_view::npos ? std::optional<std::uint64_t>(1) : to_number(text.substr(comma + 1));
  if (!first || !count) return {};
  return std::pair(*first, *count);
}

std::optional<Hunk> parse_hunk(std::string_view line) {
  if (!line.starts_with("@@ -")) return {};
  const std::size_t plus = line.find(" +", 4);
  const std::size_t end = plus == std::string_view::npos ? plus : line.find(" @@", plus + 2);
  if (end == std::string_view::npos) return {};
  const auto before = parse_range(line.substr(4, plus - 4));
  const auto after = parse_range(line.substr(plus + 2, end - plus - 2));
  if (!before || !after) return {};
  return Hunk{before->first, before->second, after->second};
}

class Scan {
 public:
  void take(std::string_view line) {
    if (m_old_left > 0 || m_new_left > 0) {
      take_hunk_line(line);
    } else if (const std::optional<Hunk> hunk = parse_hunk(line)) {
      if (m_files.empty()) throw Error("its first hunk has no file");
      m_files.back().hunks.push_back(hunk->first);
      m_old_left = hunk->old_lines;
      m_new_left = hunk->new_lines;
    } else {
      take_header(line);
    }
  }

  std::vector<PatchedFile> finish() {
    if (m_old_left > 0 || m_new_left > 0) throw Error("it is truncated in the middle of a hunk");
    if (m_files.empty()) throw Error("it contains no diff");
    return std::move(m_files);
  }

 private:
  void take_hunk_line(std::string_view line) {
    const char kind = line.empty() ? ' ' : line.front();  // editors strip the blank on empty lines
    const bool in_old = kind == ' ' || kind == '-';
    const bool in_new = kind == ' ' || kind == '+';
    if (kind == '\\') return;
    if ((!in_old && !in_new) || (in_old && m_old_left == 0) || (in_new && m_new_left == 0)) {
      throw Error(fmt::format("a hunk of {} is malformed", printable(m_files.back().name)));
    }
    m_old_left -= in_old ? 1 : 0;
    m_new_left -= in_new ? 1 : 0;
  }

  void take_header(std::string_view line) {
    constexpr std::string_view k_whole[] = {"rename from ", "rename to ", "copy from ", "copy to "};
    for (const std::string_view word : k_whole) {
      if (!line.starts_with(word)) continue;
      add(unquoted(line.substr(word.size())));
      return;
    }
    for (const std::string_view word : {"new file mode ", "new mode ", "old mode ", "deleted file mode ", "index "}) {
      if (!line.starts_with(word)) continue;
      // "index 1234..5678 120000" contains it only where it stays the same.
      const std::size_t blank = word == "index " ? line.find(' ', word.size()) : word.size() - 1;
      const std::string_view mode = blank == std::string_view::npos ? "" : trim(line.substr(blank));
      if (mode.starts_with("120") || mode.starts_with("160")) {
        throw Error(fmt::format("it changes a link or a submodule (mode {})", printable(mode)));
      }
    }
    if (line.starts_with("--- ")) take_name(line.substr(4), m_old);
    if (line.starts_with("+++ ")) {
      take_name(line.substr(4), m_new);
      add(m_new == "/dev/null" ? without_first_part(m_old) : without_first_part(m_new));
    }
    // All that git writes about a file without content: a new mode, an empty file, binary data.
    if (line.starts_with("diff --git ")) take_git_line(line.substr(11));
  }

  static void take_name(std::string_view text, std::string& into) {
    into = name_in(text);
    if (into != "/dev/null") check_name(into);
  }

  // "a/x b/x": two names with blanks between and perhaps inside; of equal length unless renamed.
  void take_git_line(std::string_view text) {
    if (text.starts_with('"') || text.size() < 3 || text.size() % 2 == 0) {
      for (const std::string_view part : split(text, ' ')) check_name(unquoted(part));
      return;
    }
    const std::string_view first = text.substr(0, text.size() / 2);
    check_name(first);
    check_name(text.substr(text.size() / 2 + 1));
    add(without_first_part(std::string(first)));
  }

  void add(std::string name) {
    check_name(name);
    const bool same = !m_files.empty() && m_files.back().name == name;
    if (!same) m_files.push_back({std::move(name), {}});
  }

  std::vector<PatchedFile> m_files;
  std::string m_old, m_new;
  std::uint64_t m_old_left = 0, m_new_left = 0;
};

}  // namespace

std::vector<PatchedFile> read_patch(std::string_view text) {
  Scan scan;
  for (const std::string_view line : lines(text)) scan.take(line);
  return scan.finish();
}

}  // namespace wheelsmith::source
