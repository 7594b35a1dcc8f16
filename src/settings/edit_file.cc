#include "settings/edit_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::settings {

namespace {

using document::Table;
using document::Value;

std::optional<Table> parsed(std::string_view text) {
  return if_valid([&] { return document::parse_toml(text, "settings"); });
}

// "key = value" on one line.
std::string assignment(const std::string& key, const Value& value) {
  Table one;
  one[key] = value;
  std::string text = document::to_toml(one);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

class Editor {
 public:
  Editor(std::string_view text, std::string_view file_name, const std::string& table, const std::string& key)
      : m_file_name(file_name), m_table(table), m_key(key), m_before(document::parse_toml(text, file_name)) {
    for (const std::string_view line : split(text, '\n')) m_lines.emplace_back(line);
    if (!m_lines.empty() && m_lines.back().empty()) m_lines.pop_back();
  }

  std::string edit(const std::optional<Value>& value) {
    Table wanted = m_before;
    change(wanted, value);
    const Value* old = value_now();
    if (old != nullptr)
      replace(*old, value, wanted);
    else if (value)
      add(*value);
    std::string text = joined(m_lines);
    const auto after = parsed(text);
    if (!after || without_empty(*after) != without_empty(wanted)) refuse();
    return text;
  }

 private:
  [[noreturn]] void refuse() const {
    throw Error(fmt::format("{}: cannot edit {} automatically because of its syntax; edit the file by hand",
                            m_file_name, m_table.empty() ? m_key : m_table + "." + m_key));
  }

  // An empty table is equivalent to no table.
  static Table without_empty(Table table) {
    for (const std::string& key : table.keys()) {
      const Table* inner = table[key].table();
      if (inner != nullptr && inner->empty()) table.erase(key);
    }
    return table;
  }

  void change(Table& document, const std::optional<Value>& value) const {
    if (m_table.empty()) {
      value ? void(document[m_key] = *value) : document.erase(m_key);
      return;
    }
    Table inner = document[m_table].table() == nullptr ? Table() : *document[m_table].table();
    value ? void(inner[m_key] = *value) : inner.erase(m_key);
    document[m_table] = inner;
  }

  [[nodiscard]] const Value* value_now() const {
    if (m_table.empty()) return m_before.find(m_key);
    const Value* table = m_before.find(m_table);
    return table == nullptr || table->table() == nullptr ? nullptr : table->table()->find(m_key);
  }

  // A value may span several lines: find the shortest range whose removal removes this key and nothing else.
  void replace(const Value& old, const std::optional<Value>& value, const Table& wanted) {
    Table without = m_before;
    change(without, std::nullopt);
    const std::size_t first = old.line - 1;
    for (std::size_t last = first; last < m_lines.size(); ++last) {
      std::vector<std::string> rest = m_lines;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(first),
                 rest.begin() + static_cast<std::ptrdiff_t>(last) + 1);
      const auto document = parsed(joined(rest));
      if (!document || without_empty(*document) != without_empty(without)) continue;
      if (value) {
        const std::string comment = first == last ? comment_of(m_lines[first]) : "";
        rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(first), assignment(m_key, *value) + comment);
      }
      // A dotted key ("env.A = 1") needs its table's name, too.
      if (const auto after = parsed(joined(rest)); value && (!after || without_empty(*after) != without_empty(wanted)))
        rest[first] = m_table + "." + rest[first];
      m_lines = std::move(rest);
      return;
    }
    refuse();
  }

  // "  # why" after the value; a '#' may also occur in a string.
  static std::string comment_of(const std::string& line) {
    const auto whole = parsed(line);
    for (std::size_t at = line.find('#'); at != std::string::npos; at = line.find('#', at + 1)) {
      const auto rest = parsed(line.substr(0, at));
      if (whole && rest && *rest == *whole) return "  " + line.substr(at);
    }
    return "";
  }

  void add(const Value& value) {
    const auto header = [&](const std::string& name) {
      return std::ranges::find_if(m_lines, [&](const std::string& line) { return trim(line) == "[" + name + "]"; });
    };
    const std::string line = assignment(m_key, value);
    if (!m_table.empty()) {
      const auto at = header(m_table);
      if (at != m_lines.end()) {
        m_lines.insert(at + 1, line);
        return;
      }
      if (!m_lines.empty()) m_lines.emplace_back();
      m_lines.push_back("[" + m_table + "]");
      m_lines.push_back(line);
      return;
    }
    // Insert before the first table and its comment.
    auto at = std::ranges::find_if(m_lines, [](const std::string& one) { return trim(one).starts_with('['); });
    if (at != m_lines.end()) {
      while (at != m_lines.begin() && (trim(*(at - 1)).empty() || trim(*(at - 1)).starts_with('#'))) --at;
    }
    m_lines.insert(at, line);
  }

  std::string m_file_name, m_table, m_key;
  Table m_before;
  std::vector<std::string> m_lines;
};

}  // namespace

std::string edited_file(std::string_view text, std::string_view file_name, const std::string& table,
                        const std::string& key, const std::optional<document::Value>& value) {
  return Editor(text, file_name, table, key).edit(value);
}

}  // namespace wheelsmith::settings
