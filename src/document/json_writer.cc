// Writes Values as JSON. A plan of 1,000 steps has 50,000 values, so they are written directly; only non-trivial ones
// (strings that need escaping, fractions) go through nlohmann-json, which escapes and replaces invalid UTF-8.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "document/value.h"

namespace wheelsmith::document {
namespace {

enum class Order { as_written, sorted };

class Writer {
 public:
  Writer(int indent, Order order) : m_indent(indent), m_order(order) {}

  std::string take() { return std::move(m_out); }

  void write(const Value& value) {
    if (const auto* truth = value.boolean()) {
      m_out += *truth ? "true" : "false";
    } else if (const auto* whole = value.integer()) {
      m_out += std::to_string(*whole);
    } else if (const auto* text = value.text()) {
      write_text(*text);
    } else if (value.is_number()) {
      m_out += nlohmann::json(value.number()).dump();
    } else if (const auto* list = value.array()) {
      write_list(*list);
    } else if (const auto* table = value.table()) {
      write_table(*table);
    } else {
      m_out += "null";
    }
  }

 private:
  void write_text(const std::string& text) {
    const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
    if (!std::all_of(text.begin(), text.end(), plain)) {
      m_out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      return;
    }
    m_out += '"';
    m_out += text;
    m_out += '"';
  }

  void write_list(const Array& list) {
    open('[');
    for (const Value& element : list) {
      next(&element == list.data());
      write(element);
    }
    close(']', list.empty());
  }

  void write_table(const Table& table) {
    std::vector<const Member*> members;
    members.reserve(table.size());
    for (const Member& member : table) members.push_back(&member);
    if (m_order == Order::sorted)
      std::sort(members.begin(), members.end(), [](const Member* a, const Member* b) { return a->first < b->first; });
    open('{');
    for (const Member* member : members) {
      next(member == members.front());
      write_text(member->first);
      m_out += m_indent < 0 ? ":" : ": ";
      write(member->second);
    }
    close('}', table.empty());
  }

  void open(char bracket) {
    m_out += bracket;
    ++m_depth;
  }
  void next(bool first) {
    if (!first) m_out += ',';
    start_line();
  }
  void close(char bracket, bool empty) {
    --m_depth;
    if (!empty) start_line();
    m_out += bracket;
  }
  void start_line() {
    if (m_indent < 0) return;
    m_out += '\n';
    m_out.append(m_depth * static_cast<std::size_t>(m_indent), ' ');
  }

  std::string m_out;
  int m_indent;
  Order m_order;
  std::size_t m_depth = 0;
};

std::string written(const Value& value, int indent, Order order) {
  Writer writer(indent, order);
  writer.write(value);
  return writer.take();
}

}  // namespace

std::string to_json(const Value& value, int indent) { return written(value, indent, Order::as_written); }

std::string canonical_json(const Value& value) { return written(value, -1, Order::sorted); }

}  // namespace wheelsmith::document
