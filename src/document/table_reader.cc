#include "document/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::document {

namespace {
constexpr std::size_t k_most_told = 20;
constexpr std::string_view k_more = "more-";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t k_longest = 80;
  return fmt::format("\"{}{}\"", printable(text.substr(0, k_longest)), text.size() > k_longest ? "…" : "");
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  static const std::vector<std::pair<std::string_view, double>> k_units = {{"", 1},
                                                                           {"b", 1},
                                                                           {"kb", 1e3},
                                                                           {"mb", 1e6},
                                                                           {"gb", 1e9},
                                                                           {"tb", 1e12},
                                                                           {"kib", 1024},
                                                                           {"mib", 1024 * 1024},
                                                                           {"gib", 1024.0 * 1024 * 1024},
                                                                           {"tib", 1024.0 * 1024 * 1024 * 1024}};
  const std::string_view trimmed = trim(text);
  const std::size_t end = std::min(trimmed.find_first_not_of("0123456789."), trimmed.size());
  const std::string digits(trimmed.substr(0, end));
  if (digits.empty() || digits.size() > 20 || !is_digit(digits.back()) || !is_digit(digits.front()) ||
      std::count(digits.begin(), digits.end(), '.') > 1) {
    return std::nullopt;
  }
  const std::string unit = to_lower(trim(trimmed.substr(end)));
  for (const auto& [name, factor] : k_units) {
    if (unit != name) continue;
    const double bytes = std::strtod(digits.c_str(), nullptr) * factor;
    if (bytes > 1e18) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(bytes));
  }
  return std::nullopt;
}

void Problems::add(std::uint32_t line, std::string what) {
  // A hostile file may contain a million errors; the first ones are enough.
  if (m_problems.size() < 1000) m_problems.emplace_back(m_lines ? line : 0, std::move(what));
}

void Problems::throw_if_any() const {
  if (m_problems.empty()) return;
  auto sorted = m_problems;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), k_most_told); ++i) {
    const auto& [line, what] = sorted[i];
    text += i == 0 ? "" : "\n";
    text += line == 0 ? fmt::format("{}: {}", m_file_name, what) : fmt::format("{}:{}: {}", m_file_name, line, what);
  }
  if (sorted.size() > k_most_told) text += fmt::format("\n{}: and {} more", m_file_name, sorted.size() - k_most_told);
  throw Error(text);
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t k_longest = 64;  // of a word that gets suggestions
  const auto near = word.size() <= k_longest ? nearest(word, known) : std::nullopt;
  return near ? fmt::format("; did you mean {}?", *near) : std::string();
}

std::string TableReader::inner_name(std::string_view key) const {
  if (!m_name.starts_with('[')) return fmt::format("[{}]", key);
  return fmt::format("[{}.{}]", std::string_view(m_name).substr(1, m_name.size() - 2), key);
}

void TableReader::fail(const Value& where, std::string what) { m_problems.add(where.line, std::move(what)); }

const Value* TableReader::take(std::string_view key) {
  if (std::find(m_known.begin(), m_known.end(), key) == m_known.end()) m_known.emplace_back(key);
  return m_table.find(key);
}

void TableReader::finish() {
  for (const auto& [key, value] : m_table) {
    const auto known = [&](std::string_view word) {
      return std::find(m_known.begin(), m_known.end(), word) != m_known.end();
    };
    if (known(key)) continue;
    // more-KEY is suggested only if the key begins with "more-".
    std::vector<std::string> offered;
    for (const std::string& word : m_known) {
      if (word.starts_with(k_more) == key.starts_with("more")) offered.push_back(word);
    }
    fail(value, fmt::format("unknown key {} in {}{}", printable(key.substr(0, 80)), m_name, suggestion(key, offered)));
  }
}

bool TableReader::read_text(const Value& value, std::string_view what, std::string& result, const TextCheck& check) {
  if (value.text() == nullptr) {
    fail(value, fmt::format("{} must be a string, but is {}", what, value.kind()));
    return false;
  }
  std::string complaint = value.text()->find('\0') != std::string::npos ? "a string cannot contain NUL" : "";
  if (complaint.empty() && check) complaint = check(*value.text());
  if (!complaint.empty()) {
    fail(value, fmt::format("{}: {}", what, complaint));
    return false;
  }
  result = *value.text();
  return true;
}

bool TableReader::text(std::string_view key, std::string& result, const TextCheck& check) {
  const Value* value = take(key);
  return value != nullptr && read_text(*value, key, result, check);
}

bool TableReader::flag(std::string_view key, bool& result) {
  const Value* value = take(key);
  if (value == nullptr) return false;
  if (value->boolean() == nullptr) {
    fail(*value, fmt::format("{} must be a boolean, but is {}", key, value->kind()));
    return false;
  }
  result = *value->boolean();
  return true;
}

bool TableReader::number(std::string_view key, double& result) {
  const Value* value = take(key);
  if (value == nullptr) return false;
  if (!value->is_number() || !(value->number() >= 0) || std::isinf(value->number())) {
    fail(*value, fmt::format("{} must be a non-negative number", key));
    return false;
  }
  result = value->number();
  return true;
}

bool TableReader::size(std::string_view key, std::uint64_t& result) {
  const Value* value = take(key);
  if (value == nullptr) return false;
  const std::int64_t* bytes = value->integer();
  const auto parsed = value->text() != nullptr          ? parse_size(*value->text())
                      : bytes != nullptr && *bytes >= 0 ? std::optional(static_cast<std::uint64_t>(*bytes))
                                                        : std::nullopt;
  if (!parsed) {
    fail(*value, fmt::format("{} must be a size: \"4.7GB\", \"250MB\", or a number of bytes", key));
    return false;
  }
  result = *parsed;
  return true;
}

bool TableReader::choice(std::string_view key, const std::vector<std::string>& words, std::size_t& result) {
  std::string word;
  const auto check = [&](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return fmt::format("{} is not one of {}{}", in_quotes(text), join(words, ", "), suggestion(text, words));
  };
  if (!text(key, word, check)) return false;
  result = static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
  return true;
}

bool TableReader::texts(std::string_view key, std::vector<std::string>& result, const TextCheck& check) {
  bool found = false;
  std::vector<std::string> all;
  for (const std::string& name : {std::string(key), std::string(k_more) + std::string(key)}) {
    const Value* value = take(name);
    if (value == nullptr) continue;
    if (value->array() == nullptr) {
      fail(*value, fmt::format("{} must be a list of strings, but is {}", name, value->kind()));
      return false;
    }
    found = true;
    for (const Value& element : *value->array()) {
      std::string text;
      if (read_text(element, "each of " + name, text, check)) all.push_back(std::move(text));
    }
  }
  if (found) result = std::move(all);
  return found;
}

bool TableReader::pairs(std::string_view key, Pairs& result, const TextCheck& check_name, const TextCheck& check) {
  return within(key, [&](TableReader& inner) {
    result.clear();
    for (const auto& [name, value] : inner.table()) {
      (void)inner.take(name);
      if (const std::string complaint = check_name ? check_name(name) : ""; !complaint.empty()) {
        fail(value, fmt::format("{}: {}", inner.name(), complaint));
      } else if (const std::int64_t* whole = value.integer()) {
        result.emplace_back(name, std::to_string(*whole));
      } else if (std::string text; read_text(value, name, text, check)) {
        result.emplace_back(name, std::move(text));
      }
    }
    std::stable_sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  });
}

bool TableReader::within(std::string_view key, const std::function<void(TableReader&)>& then) {
  const Value* value = take(key);
  if (value == nullptr) return false;
  if (value->table() == nullptr) {
    fail(*value, fmt::format("{} must be a table, but is {}", key, value->kind()));
    return false;
  }
  TableReader inner(*value->table(), inner_name(key), value->line, m_problems);
  then(inner);
  inner.finish();
  return true;
}

bool TableReader::each(std::string_view key, const std::function<void(TableReader&)>& then) {
  bool found = false;
  for (const std::string& name : {std::string(key), std::string(k_more) + std::string(key)}) {
    const Value* value = take(name);
    if (value == nullptr) continue;
    found = true;
    const bool is_list = value->array() != nullptr;
    if (!is_list) fail(*value, fmt::format("write [{}]: it is a list of tables", inner_name(name)));
    for (const Value& element : is_list ? *value->array() : Array()) {
      if (element.table() == nullptr) {
        fail(element, fmt::format("write [{}]: it is a list of tables", inner_name(name)));
        continue;
      }
      TableReader inner(*element.table(), fmt::format("[{}]", inner_name(name)), element.line, m_problems);
      then(inner);
      inner.finish();
    }
  }
  return found;
}

}  // namespace wheelsmith::document
