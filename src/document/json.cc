// Parses JSON with nlohmann-json's event interface into Values, so that depth, count and lines are under our control.

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"
#include "document/value.h"

namespace wheelsmith::document {
namespace {

// Counts the lines while the parser reads: the line of the last character it has seen. A newline belongs to the line
// that it ends, so the parser's one-character lookahead after a number does no harm.
struct Lines {
  std::uint32_t line = 1;
  bool ended = false;
  void saw(char c) {
    if (ended) ++line;
    ended = c == '\n';
  }
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Lines* lines) : m_at(at), m_lines(lines) {}
  reference operator*() const { return *m_at; }
  CountingIterator& operator++() {
    m_lines->saw(*m_at++);
    return *this;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.m_at == b.m_at; }

 private:
  const char* m_at;
  Lines* m_lines;
};

// Converts the parser's events to values, with a stack of open containers.
class Builder {
 public:
  Builder(std::string_view file_name, const Lines& lines) : m_file_name(file_name), m_lines(lines) {}

  bool null() { return add(Value()); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) {
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return add(fits ? Value(static_cast<std::int64_t>(value)) : Value(static_cast<double>(value)));
  }
  bool number_float(double value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return open(true); }
  bool key(std::string& name) {
    m_open.back().keys.push_back(std::move(name));
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(false); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const nlohmann::json::exception& e) {
    // "[json.exception…] parse error at line 1, column 5: what is wrong"
    std::string_view what = e.what();
    if (const std::size_t column = what.find(", column "); column != std::string_view::npos) {
      const std::size_t colon = what.find(": ", column);
      if (colon != std::string_view::npos) what.remove_prefix(colon + 2);
    }
    fail(printable(what));
  }

  Value result() { return std::move(m_result); }

 private:
  struct Open {
    bool is_table = false;
    std::uint32_t line = 0;
    std::vector<std::string> keys;
    std::vector<Value> values;
  };

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}:{}: {}", m_file_name, m_lines.line, what));
  }

  bool open(bool is_table) {
    if (m_open.size() >= k_max_depth) fail(fmt::format("nested deeper than {} levels", k_max_depth));
    m_open.push_back({is_table, m_lines.line, {}, {}});
    return true;
  }

  bool close() {
    Open done = std::move(m_open.back());
    m_open.pop_back();
    Value value;
    if (done.is_table) {
      std::vector<Member> members;
      members.reserve(done.keys.size());
      for (std::size_t i = 0; i < done.keys.size(); ++i) {
        members.emplace_back(std::move(done.keys[i]), std::move(done.values[i]));
      }
      value = Table(std::move(members));
    } else {
      value = std::move(done.values);
    }
    return add(std::move(value), done.line);
  }

  bool add(Value value, std::uint32_t line = 0) {
    if (++m_count > k_max_values) fail(fmt::format("more than {} values", k_max_values));
    value.line = line != 0 ? line : m_lines.line;
    if (m_open.empty()) {
      m_result = std::move(value);
    } else {
      m_open.back().values.push_back(std::move(value));
    }
    return true;
  }

  std::string_view m_file_name;
  const Lines& m_lines;
  std::vector<Open> m_open;
  std::size_t m_count = 0;
  Value m_result;
};

}  // namespace

Value parse_json(std::string_view text, std::string_view file_name) {
  if (text.size() > k_max_json_size) {
    throw Error(fmt::format("{}:1: {} of JSON exceed the limit of {}", file_name, human_bytes(text.size()),
                            human_bytes(k_max_json_size)));
  }
  Lines lines;
  Builder builder(file_name, lines);
  nlohmann::json::sax_parse(CountingIterator(text.data(), &lines), CountingIterator(text.data() + text.size(), &lines),
                            &builder);
  return builder.result();
}

std::optional<Value> try_parse_json(std::string_view text) {
  return if_valid([&] { return parse_json(text, "json"); });
}

}  // namespace wheelsmith::document
