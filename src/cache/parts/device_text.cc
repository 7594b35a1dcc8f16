#include "cache/parts/device_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

// A cached PTX belongs to the text that cicc read. Three things in that text and in the PTX depend on more than the
// architecture at hand, and without care nothing would ever be found again:
//
// The list of architectures. CCCL puts its contents into namespaces that contain all of them
// (thrust::THRUST_300001_SM_800_900_NS), so that objects compiled for other lists do not mix. Any unit that includes
// torch's headers has them, and at least one symbol in its PTX. Text and PTX are compared and stored with a stand-in
// for the list. The compiler treats a namespace's name as a name and nothing else; tests/proof/gpu_parts.sh compares
// what comes out with a plain compile. Where the list appears in any other way (a number, a string), it counts as
// written.
//
// The module ID, which names of static variables and of anonymous namespaces contain: a digest of the source's path.
//
// Lines and blank lines: the preprocessor drops comments but counts their lines. They count only if something shows
// them: a message of the compiler, or debug information.
//
// In mangled names a length precedes each name ("27THRUST_…"), which is recomputed.

namespace wheelsmith::cache {

namespace {

constexpr char k_mark = '\x1f';
constexpr std::string_view k_families[] = {"THRUST_", "CUB_"};

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}
bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

// THRUST_300001_SM_800_900_NS, CUB_300001_SM_800_900.
bool is_space(std::string_view word, std::string_view archs) {
  for (const std::string_view family : k_families) {
    if (!word.starts_with(family)) continue;
    std::string_view rest = word.substr(family.size());
    const std::size_t digits = rest.find_first_not_of("0123456789");
    if (digits == 0 || digits == rest.npos) return false;
    rest.remove_prefix(digits);
    if (!rest.starts_with("_SM_") || !rest.substr(4).starts_with(archs)) return false;
    rest.remove_prefix(4 + archs.size());
    return rest.empty() || rest == "_NS";
  }
  return false;
}

// Hashes a text line by line.
class TextHasher {
 public:
  TextHasher(std::string_view text, const std::string& archs, bool positions, const PathMap& map)
      : m_text(text), m_archs(archs), m_map(map), m_mark("_SM_" + archs), m_positions(positions) {}

  // False when the list of architectures appears in a way that counts.
  bool run() {
    while (m_at < m_text.size()) {
      const std::size_t end = std::min(m_text.find('\n', m_at), m_text.size());
      const std::string_view line = m_text.substr(m_at, end - m_at);
      if (!m_positions && line.find("R\"") != line.npos) {
        if (const std::size_t raw_end = end_of_raw(m_at, end); raw_end > end) {
          add('R', m_text.substr(m_at, raw_end - m_at));
          m_at = raw_end + 1;
          continue;
        }
      }
      m_at = end + 1;
      if (!add_line(line)) return false;
    }
    return true;
  }
  TextDigest take() { return {m_hash.finish(), std::move(m_spaces)}; }

 private:
  void add(char kind, std::string_view line) {
    m_hash.update(fmt::format("{}{} ", kind, line.size()));
    m_hash.update(line);
  }

  bool add_line(std::string_view line) {
    if (line.starts_with("# ") && line.size() > 2 && is_digit_char(line[2])) {
      const std::size_t quote = line.rfind('"');
      if (m_positions) {
        add('M', m_map.empty() ? std::string(line) : m_map.known_text(line));
      } else if (quote != line.npos && quote + 1 < line.size()) {
        add('F', line.substr(quote + 1));  // entered, left, a system header
      }
      return true;
    }
    if (!m_positions && trim(line).empty()) return true;
    if (m_archs.empty() || line.find(m_mark) == line.npos) {
      add('L', line);
      return true;
    }
    return add_line_with_list(line);
  }

  bool add_line_with_list(std::string_view line) {
    if (line.find_first_of("\"'") != line.npos) return false;
    std::string changed;
    for (std::size_t at = 0; at < line.size();) {
      if (!is_identifier(line[at])) {
        changed += line[at++];
        continue;
      }
      std::size_t end = at;
      while (end < line.size() && is_identifier(line[end])) ++end;
      const std::string_view word = line.substr(at, end - at);
      if (is_space(word, m_archs)) {
        if (std::find(m_spaces.begin(), m_spaces.end(), word) == m_spaces.end()) m_spaces.emplace_back(word);
        std::string stand_in(word);
        stand_in.replace(stand_in.find(m_mark) + 4, m_archs.size(), 1, k_mark);
        changed += stand_in;
      } else {
        changed += word;
      }
      at = end;
    }
    add('S', changed);
    return true;
  }

  // The end of the line in which the last raw string that begins in this line ends; `end` when there is none. Only
  // these span lines: everything else that looks like a quote ends with its line.
  std::size_t end_of_raw(std::size_t from, std::size_t end) const {
    for (std::size_t at = from; at < end;) {
      const char c = m_text[at];
      if (c == '"' && is_raw_prefix(from, at)) {
        const std::size_t open = m_text.find('(', at);
        if (open == m_text.npos || open - at > 17) return end;
        const std::string close = ")" + std::string(m_text.substr(at + 1, open - at - 1)) + "\"";
        const std::size_t found = m_text.find(close, open);
        if (found == m_text.npos) return m_text.size();
        at = found + close.size();
        if (at > end) {
          from = at;
          end = std::min(m_text.find('\n', at), m_text.size());
        }
      } else if (c == '"' || (c == '\'' && (at == from || !is_identifier(m_text[at - 1])))) {
        ++at;
        while (at < end && m_text[at] != c) at += m_text[at] == '\\' ? 2 : 1;
        ++at;
      } else {
        ++at;
      }
    }
    return end;
  }
  bool is_raw_prefix(std::size_t line, std::size_t quote) const {
    std::size_t start = quote;
    while (start > line && is_identifier(m_text[start - 1])) --start;
    const std::string_view prefix = m_text.substr(start, quote - start);
    return prefix == "R" || prefix == "LR" || prefix == "uR" || prefix == "UR" || prefix == "u8R";
  }

  std::string_view m_text;
  const std::string& m_archs;
  const PathMap& m_map;
  std::string m_mark;
  bool m_positions;
  std::size_t m_at = 0;
  Sha256 m_hash;
  std::vector<std::string> m_spaces;
};

// --- generated texts

// What stands at `at`, and what replaces it there.
struct Match {
  std::size_t at = std::string::npos, size = 0;
  std::string stand_in;
};

class Neutralizer {
 public:
  Neutralizer(std::string_view text, const Spelling& spelling) : m_text(text), m_spelling(spelling) {}

  std::optional<std::string> run() {
    if (m_text.find(k_mark) != m_text.npos) return std::nullopt;
    std::string result;
    std::size_t at = 0;
    std::vector<std::size_t> next(2 + m_spelling.files.size() + m_spelling.spaces.size(), 0);
    for (;;) {
      Match first;
      if (!m_spelling.id.empty()) consider(m_spelling.id, at, next[0], std::string(1, k_mark) + "I", first);
      for (std::size_t i = 0; i < m_spelling.files.size(); ++i)
        consider(m_spelling.files[i], at, next[1 + i], fmt::format("{}F{}{}", k_mark, i, k_mark), first);
      for (std::size_t i = 0; i < m_spelling.spaces.size(); ++i)
        consider(m_spelling.spaces[i], at, next[1 + m_spelling.files.size() + i], "", first);
      if (first.at == m_text.npos) break;
      result += m_text.substr(at, first.at - at);
      if (first.stand_in.empty()) {
        if (!add_space(m_text.substr(first.at, first.size), first.at, result)) return std::nullopt;
      } else {
        result += first.stand_in;
      }
      at = first.at + first.size;
    }
    result += m_text.substr(at);
    return result;
  }

 private:
  // Each search continues where it last found something.
  void consider(const std::string& word, std::size_t at, std::size_t& next, std::string stand_in, Match& first) const {
    if (next == m_text.npos || word.empty()) return;
    if (next < at || next == 0) next = m_text.find(word, at);
    if (next == m_text.npos || next > first.at) return;
    if (next == first.at && word.size() <= first.size) return;
    first = {next, word.size(), std::move(stand_in)};
  }

  bool add_space(std::string_view word, std::size_t at, std::string& result) const {
    std::string stand_in(word);
    stand_in.replace(stand_in.find("_SM_") + 4, m_spelling.archs.size(), 1, k_mark);
    const char before = at == 0 ? ' ' : m_text[at - 1];
    const std::size_t end = at + word.size();
    if (!is_identifier(before)) {
      if (end < m_text.size() && is_identifier(m_text[end])) return false;
      result += fmt::format("{}U{}{}", k_mark, stand_in.size(), k_mark) + stand_in;
      return true;
    }
    // A mangled name: "6thrust27THRUST_…".
    const std::string length = std::to_string(word.size());
    if (at <= length.size() || m_text.substr(at - length.size(), length.size()) != length) return false;
    if (is_digit_char(m_text[at - length.size() - 1]) || !result.ends_with(length)) return false;
    result.resize(result.size() - length.size());
    result += fmt::format("{}L{}{}", k_mark, stand_in.size(), k_mark) + stand_in;
    return true;
  }

  std::string_view m_text;
  const Spelling& m_spelling;
};

}  // namespace

TextDigest digest_of_text(std::string_view text, const std::string& archs, bool positions, const PathMap& map) {
  TextHasher hasher(text, archs, positions, map);
  if (hasher.run()) return hasher.take();
  const std::string none;
  TextHasher exact(text, none, positions, map);
  exact.run();
  TextDigest result = exact.take();
  // Not the digest of a text without any list.
  Sha256 hash;
  hash.update("as written ");
  hash.update(archs);
  hash.update(std::string_view(reinterpret_cast<const char*>(result.digest.data()), result.digest.size()));
  return {hash.finish(), {}};
}

std::optional<std::string> neutral_text(std::string_view text, const Spelling& spelling) {
  auto result = Neutralizer(text, spelling).run();
  if (!result || spelling.archs.empty()) return result;
  // The list in any other form, such as a name of another family.
  return result->find("_SM_" + spelling.archs) == std::string::npos ? result : std::nullopt;
}

std::optional<std::string> spelled_text(std::string_view text, const Spelling& spelling) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t mark = text.find(k_mark, at);
    result += text.substr(at, mark == text.npos ? text.npos : mark - at);
    if (mark == text.npos) return result;
    if (mark + 1 >= text.size()) return std::nullopt;
    const char kind = text[mark + 1];
    at = mark + 2;
    if (kind == 'I') {
      result += spelling.id;
      continue;
    }
    const std::size_t close = text.find(k_mark, at);
    const auto number = close == text.npos ? std::nullopt : to_number(text.substr(at, close - at));
    if (!number) return std::nullopt;
    at = close + 1;
    if (kind == 'F') {
      if (*number >= spelling.files.size()) return std::nullopt;
      result += spelling.files[*number];
      continue;
    }
    if ((kind != 'U' && kind != 'L') || *number > text.size() - at) return std::nullopt;
    std::string word(text.substr(at, *number));
    at += *number;
    const std::size_t list = word.find(k_mark);
    if (list == word.npos) return std::nullopt;
    word.replace(list, 1, spelling.archs);
    if (kind == 'L') result += std::to_string(word.size());
    result += word;
  }
}

}  // namespace wheelsmith::cache
