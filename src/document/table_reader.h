#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/value.h"

// Tables read so that nothing in them goes unseen: each key that is asked for is marked, each value is checked where it
// stands, and whatever nobody asked for is an unknown key. All problems of a file are told at once, by line.

namespace wheelsmith::document {

class Problems {
 public:
  // Without `lines` each is told of the file as a whole: the lines would be those of several files.
  explicit Problems(std::string_view file_name, bool lines = true) : m_file_name(file_name), m_lines(lines) {}
  // Line 0: the problem is of the file as a whole.
  void add(std::uint32_t line, std::string what);
  [[nodiscard]] bool empty() const { return m_problems.empty(); }
  // Error with a line of text for each, in the order of the file.
  void throw_if_any() const;

 private:
  std::string m_file_name;
  bool m_lines;
  std::vector<std::pair<std::uint32_t, std::string>> m_problems;
};

// What is wrong with a text, "" when nothing is.
using TextCheck = std::function<std::string(const std::string&)>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// In quotes, shortened, safe for a terminal.
std::string in_quotes(std::string_view text);
// "4.7GB", "250 MB", "16GiB", "1000"; nothing for what is no size.
std::optional<std::uint64_t> parse_size(std::string_view text);
// "; did you mean X?", or nothing when no word is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

class TableReader {
 public:
  // `name` as people write it: "[build]", "the recipe".
  TableReader(const Table& table, std::string name, std::uint32_t line, Problems& problems)
      : m_table(table), m_name(std::move(name)), m_line(line), m_problems(problems) {}

  [[nodiscard]] const Table& table() const { return m_table; }
  [[nodiscard]] const std::string& name() const { return m_name; }
  [[nodiscard]] std::uint32_t line() const { return m_line; }
  [[nodiscard]] Problems& problems() const { return m_problems; }

  // The value, marked as seen; null when there is none.
  const Value* take(std::string_view key);
  // Each of these leaves the result alone and returns false when the key is not there or is wrong (and says so).
  bool text(std::string_view key, std::string& result, const TextCheck& check = {});
  bool flag(std::string_view key, bool& result);
  bool number(std::string_view key, double& result);       // not negative
  bool size(std::string_view key, std::uint64_t& result);  // a number of bytes, or a text: "4.7GB"
  // One of the words; the result is its place.
  bool choice(std::string_view key, const std::vector<std::string>& words, std::size_t& result);
  // Texts of KEY and more-KEY.
  bool texts(std::string_view key, std::vector<std::string>& result, const TextCheck& check = {});
  // Members of a table, whole numbers as texts; sorted by name.
  bool pairs(std::string_view key, Pairs& result, const TextCheck& check_name = {}, const TextCheck& check = {});
  // A reader for the table under the key, null when there is none; `then` is called with it and finish() after that.
  bool within(std::string_view key, const std::function<void(TableReader&)>& then);
  // The same for each of the list of tables KEY and more-KEY.
  bool each(std::string_view key, const std::function<void(TableReader&)>& then);

  void fail(const Value& where, std::string what);
  // Says which keys were not asked for.
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
