#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Text documents as values: TOML and JSON in, JSON out. One type for both, with the line of each value, so that readers
// of recipes and settings can report where an error is. The parsers are toml++ and nlohmann-json; only this module
// includes them for reading, because each costs seconds of compile time per file.

namespace wheelsmith::document {

class Value;
using Array = std::vector<Value>;
using Member = std::pair<std::string, Value>;

// Members in the order written; keys are unique. Two tables are equal if they have equal members, in any order.
class Table {
 public:
  Table() = default;
  // Bulk insert. For a repeated key the last value wins, at the position of the first.
  explicit Table(std::vector<Member> members);

  [[nodiscard]] const Value* find(std::string_view key) const;  // null when there is none
  Value& operator[](std::string_view key);                      // created if missing
  void erase(std::string_view key);
  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::vector<Member>::const_iterator begin() const;
  [[nodiscard]] std::vector<Member>::const_iterator end() const;
  [[nodiscard]] std::vector<std::string> keys() const;
  friend bool operator==(const Table& a, const Table& b);

 private:
  // The key's position in m_by_key, or its insertion point.
  [[nodiscard]] std::size_t place(std::string_view key) const;

  std::vector<Member> m_members;
  std::vector<std::uint32_t> m_by_key;  // positions in m_members, sorted by key
};

class Value {
 public:
  Value() = default;  // null
  Value(bool value) : m_value(value) {}
  template <std::integral T>
  Value(T value) : m_value(static_cast<std::int64_t>(value)) {}
  Value(double value) : m_value(value) {}
  Value(std::string value) : m_value(std::move(value)) {}
  Value(std::string_view value) : m_value(std::string(value)) {}
  Value(const char* value) : m_value(std::string(value)) {}
  Value(Array value) : m_value(std::move(value)) {}
  Value(Table value) : m_value(std::move(value)) {}

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(m_value); }
  // Null if it is of another kind.
  [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&m_value); }
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&m_value); }
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&m_value); }
  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&m_value); }
  [[nodiscard]] const Table* table() const { return std::get_if<Table>(&m_value); }
  [[nodiscard]] Array* array() { return std::get_if<Array>(&m_value); }
  [[nodiscard]] Table* table() { return std::get_if<Table>(&m_value); }
  [[nodiscard]] bool is_number() const { return integer() != nullptr || std::holds_alternative<double>(m_value); }
  [[nodiscard]] double number() const;  // 0 if it is not a number
  // "a table", "a list", "a string", "a number", "a boolean", "nothing": for messages.
  [[nodiscard]] std::string_view kind() const;

  // Shortcuts for documents written by Wheelsmith: a member's value, or the empty one.
  [[nodiscard]] const Value& operator[](std::string_view key) const;
  [[nodiscard]] std::string text_or(std::string_view fallback = "") const;
  [[nodiscard]] std::int64_t integer_or(std::int64_t fallback) const;
  [[nodiscard]] bool boolean_or(bool fallback) const;
  [[nodiscard]] std::vector<std::string> texts() const;  // of a list of strings; other values are skipped

  std::uint32_t line = 0;  // counted from 1; 0: not parsed
  friend bool operator==(const Value& a, const Value& b) { return a.m_value == b.m_value; }  // ignores lines

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> m_value;
};

// Defined after Value: clang requires a complete element type of a vector.
inline bool Table::empty() const { return m_members.empty(); }
inline std::size_t Table::size() const { return m_members.size(); }

// Limits of a document; more is an Error. PyPI's largest project pages have 20 MB and 300,000 values.
inline constexpr std::size_t k_max_depth = 64;
inline constexpr std::size_t k_max_values = 4'000'000;
inline constexpr std::size_t k_max_toml_size = 4 << 20;
inline constexpr std::size_t k_max_json_size = 128 << 20;

// Throw Error "FILE:LINE: what is wrong". Nesting and sizes are bounded; the text may be hostile. TOML dates become
// strings.
Table parse_toml(std::string_view text, std::string_view file_name);
Value parse_json(std::string_view text, std::string_view file_name);
// Nothing if that throws: for expendable documents written by Wheelsmith (notes of a store, lines of a record).
std::optional<Value> try_parse_json(std::string_view text);

// One document with members in order; invalid UTF-8 is replaced. `indent` < 0: one line.
std::string to_json(const Value& value, int indent = 2);
// Canonical form: equal values give equal text (sorted keys, no blanks). Keys are hashed from it.
std::string canonical_json(const Value& value);
// A table as TOML text that parse_toml reads back to the same value. TOML has no null: such members are omitted.
std::string to_toml(const Table& table);

}  // namespace wheelsmith::document
