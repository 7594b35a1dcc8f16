#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/value.h"

// Reads tables strictly: each requested key is marked, each value is checked, and every key that was never requested is
// reported as unknown. All problems of a file are reported at once, by line.

namespace wheelsmith::document {

class Problems {
 public:
  // Without `lines`, problems name only the file: the lines would be those of several files.
  explicit Problems(std::string_view file_name, bool lines = true) : m_file_name(file_name), m_lines(lines) {}
  // Line 0: the problem concerns the whole file.
  void add(std::uint32_t line, std::string what);
  [[nodiscard]] bool empty() const { return m_problems.empty(); }
  // An Error with one line per problem, in file order.
  void throw_if_any() const;

 private:
  std::string m_file_name;
  bool m_lines;
  std::vector<std::pair<std::uint32_t, std::string>> m_problems;
};

// What is wrong with a string, "" if nothing.
using TextCheck = std::function<std::string(const std::string&)>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// In quotes, shortened, safe for a terminal.
std::string in_quotes(std::string_view text);
// "4.7GB", "250 MB", "16GiB", "1000"; nothing for an invalid size.
std::optional<std::uint64_t> parse_size(std::string_view text);
// "; did you mean X?", or "" if no word is close.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

class TableReader {
 public:
  // `name` as shown in messages: "[build]", "the recipe".
  TableReader(const Table& table, std::string name, std::uint32_t line, Problems& problems)
      : m_table(table), m_name(std::move(name)), m_line(line), m_problems(problems) {}

  [[nodiscard]] const Table& table() const { return m_table; }
  [[nodiscard]] const std::string& name() const { return m_name; }
  [[nodiscard]] std::uint32_t line() const { return m_line; }
  [[nodiscard]] Problems& problems() const { return m_problems; }

  // The value, marked as seen; null if there is none.
  const Value* take(std::string_view key);
  // Each of these leaves the result unchanged and returns false if the key is missing or invalid (which is reported).
  bool text(std::string_view key, std::string& result, const TextCheck& check = {});
  bool flag(std::string_view key, bool& result);
  bool number(std::string_view key, double& result);       // not negative
  bool size(std::string_view key, std::uint64_t& result);  // a number of bytes, or a string: "4.7GB"
  // One of the words; the result is its index.
  bool choice(std::string_view key, const std::vector<std::string>& words, std::size_t& result);
  // Strings of KEY and more-KEY.
  bool texts(std::string_view key, std::vector<std::string>& result, const TextCheck& check = {});
  // Members of a table, integers as strings; sorted by name.
  bool pairs(std::string_view key, Pairs& result, const TextCheck& check_name = {}, const TextCheck& check = {});
  // Calls `then` with a reader for the table under the key, if there is one, then finish().
  bool within(std::string_view key, const std::function<void(TableReader&)>& then);
  // The same for each of the list of tables KEY and more-KEY.
  bool each(std::string_view key, const std::function<void(TableReader&)>& then);

  void fail(const Value& where, std::string what);
  // Reports keys that were never requested.
  void finish();

 private:
  bool read_text(const Value& value, std::string_view what, std::string& result, const TextCheck& check);
  [[nodiscard]] std::string inner_name(std::string_view key) const;

  const Table& m_table;
  std::string m_name;
  std::uint32_t m_line;
  Problems& m_problems;
  std::vector<std::string> m_known;
};

}  // namespace wheelsmith::document
