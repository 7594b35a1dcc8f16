#include "cache/scan.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace wheelsmith::cache {

namespace {

std::size_t find_in(std::string_view text, std::string_view needle, std::size_t from) {
  if (from >= text.size()) return text.npos;
  const void* found = ::memmem(text.data() + from, text.size() - from, needle.data(), needle.size());
  return found == nullptr ? text.npos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

// The name between quotes or angle brackets at `at`; "" when there is none on this line.
std::string name_at(std::string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != '"' && text[at] != '<')) return "";
  const char close = text[at] == '"' ? '"' : '>';
  const std::size_t end = std::min(text.find(close, at + 1), text.size());
  const std::string_view name = text.substr(at + 1, end - at - 1);
  return end == text.size() || name.find('\n') != name.npos ? "" : std::string(name);
}

// Each once, in text order.
class UniqueNames {
 public:
  explicit UniqueNames(std::vector<std::string>& list) : m_list(list) {}
  void add(std::string name) {
    if (!name.empty() && m_seen.insert(name).second) m_list.push_back(std::move(name));
  }

 private:
  std::vector<std::string>& m_list;
  std::unordered_set<std::string> m_seen;
};

}  // namespace

ScannedText scan_text(std::string_view text) {
  ScannedText result;
  UniqueNames asked(result.asked);
  UniqueNames quoted(result.quoted);
  result.time = find_in(text, "__DATE__", 0) != text.npos || find_in(text, "__TIME__", 0) != text.npos;
  result.timestamp = find_in(text, "__TIMESTAMP__", 0) != text.npos;
  result.other_files = find_in(text, ".incbin", 0) != text.npos;
  for (const std::string_view word : {"__has_include", "__has_embed"}) {
    for (std::size_t at = find_in(text, word, 0); at != text.npos; at = find_in(text, word, at)) {
      at += word.size();
      std::size_t open = at;
      if (text.substr(open).starts_with("_next")) open += 5;
      open = skip_blanks(text, open);
      if (open < text.size() && text[open] == '(') asked.add(name_at(text, skip_blanks(text, open + 1)));
    }
  }
  for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#', at + 1)) {
    std::size_t word = skip_blanks(text, at + 1);
    for (const std::string_view name : {"include_next", "include", "import", "embed"}) {
      if (!text.substr(word).starts_with(name)) continue;
      word = skip_blanks(text, word + name.size());
      if (word < text.size() && text[word] == '"') quoted.add(name_at(text, word));
      break;
    }
  }
  return result;
}

}  // namespace wheelsmith::cache
