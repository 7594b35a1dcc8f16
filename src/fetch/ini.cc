// Python's configparser reads pip.conf, with its own rules:
//
//   [global]
//   index-url = https://index.example/simple     a key ends at the first '=' or ':'
//   find-links =                                  a line indented deeper than its key continues the value,
//       /srv/wheels                               also after empty lines and comments
//       # old: /mnt/wheels
//       https://index.example/links.html
//
// Comments are whole lines that begin with '#' or ';'. Blanks around keys and values are ignored.

#include "fetch/ini.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::fetch {

namespace {

bool is_comment(std::string_view text) { return text.starts_with('#') || text.starts_with(';'); }

class IniReader {
 public:
  explicit IniReader(std::string_view file_name) : m_file_name(file_name) {}

  void add_line(std::string_view line) {
    ++m_line;
    const std::string_view text = trim(line);
    if (is_comment(text)) return;
    if (text.empty()) {
      if (m_in_value) m_entries.back().value += '\n';
      return;
    }
    const auto indent = static_cast<std::size_t>(text.data() - line.data());
    if (m_in_value && indent > m_indent) {
      m_entries.back().value.append("\n").append(text);
      return;
    }
    m_indent = indent;
    m_in_value = false;
    if (text.size() > 2 && text.starts_with('[') && text.rfind(']') > 1 && text.rfind(']') != std::string_view::npos) {
      m_section = std::string(text.substr(1, text.rfind(']') - 1));
    } else {
      add_key(text);
    }
  }

  std::vector<IniEntry> finish() {
    for (IniEntry& entry : m_entries) {
      // Only at the end: a value whose first line is empty begins with '\n', as in Python.
      while (!entry.value.empty() && (entry.value.back() == '\n' || entry.value.back() == ' ')) entry.value.pop_back();
    }
    return std::move(m_entries);
  }

 private:
  void add_key(std::string_view text) {
    if (!m_section) fail("no [section] before this line");
    const std::size_t mark = text.find_first_of("=:");
    if (mark == std::string_view::npos) fail("expected a [section] or \"key = value\"");
    const std::string_view key = trim(text.substr(0, mark));
    if (key.empty()) fail("the key is missing");
    m_entries.push_back({*m_section, to_lower(key), std::string(trim(text.substr(mark + 1))), m_line});
    m_in_value = true;
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw Error(fmt::format("{}:{}: {}", m_file_name, m_line, what));
  }

  std::string m_file_name;
  std::vector<IniEntry> m_entries;
  std::optional<std::string> m_section;
  std::size_t m_line = 0, m_indent = 0;
  bool m_in_value = false;
};

}  // namespace

std::vector<IniEntry> parse_ini(std::string_view text, std::string_view file_name) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  IniReader reader(file_name);
  for (const std::string_view line : lines(text)) reader.add_line(line);
  return reader.finish();
}

}  // namespace wheelsmith::fetch
