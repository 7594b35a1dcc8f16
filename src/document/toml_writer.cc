// Writes tables as readable TOML: plain members first, then [tables] and [[lists of tables]] under their full names;
// multi-line strings in triple quotes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "document/value.h"

namespace wheelsmith::document {
namespace {

bool is_bare(std::string_view key) {
  const auto bare = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), bare);
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '\\': out += "\\\\"; break;
    case '"': out += "\\\""; break;
    case '\n': out += "\\n"; break;
    case '\t': out += "\\t"; break;
    case '\r': out += "\\r"; break;
    default:
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        out += fmt::format("\\u{:04X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
      } else {
        out += c;
      }
  }
}

std::string quoted_text(std::string_view raw) {
  std::string out = "\"";
  for (const char c : to_valid_utf8(raw)) append_escaped(out, c);
  return out + "\"";
}

// Lines unchanged; a quote is escaped only where three could meet.
std::string quoted_lines(std::string_view raw) {
  const std::string text = to_valid_utf8(raw);
  std::string out = "\"\"\"\n";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool lone_quote =
        text[i] == '"' && i + 1 < text.size() && text[i + 1] != '"' && (i == 0 || text[i - 1] != '"');
    if (text[i] == '\n' || lone_quote) {
      out += text[i];
    } else {
      append_escaped(out, text[i]);
    }
  }
  return out + "\"\"\"";
}

std::string key_text(std::string_view key) { return is_bare(key) ? std::string(key) : quoted_text(key); }

std::string real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string inline_text(const Value& value) {
  if (const auto* truth = value.boolean()) return *truth ? "true" : "false";
  if (const auto* whole = value.integer()) return fmt::format("{}", *whole);
  if (const auto* text = value.text()) return quoted_text(*text);
  if (value.is_number()) return real(value.number());
  std::string out;
  if (const auto* list = value.array()) {
    for (const Value& element : *list) {
      if (!element.is_null()) out += (out.empty() ? "" : ", ") + inline_text(element);
    }
    return "[" + out + "]";
  }
  for (const auto& [key, member] : *value.table()) {
    if (!member.is_null()) out += fmt::format("{} {} = {}", out.empty() ? "" : ",", key_text(key), inline_text(member));
  }
  return out.empty() ? "{}" : "{" + out + " }";
}

bool is_list_of_tables(const Value& value) {
  const Array* list = value.array();
  return list != nullptr && !list->empty() &&
         std::all_of(list->begin(), list->end(), [](const Value& element) { return element.table() != nullptr; });
}

void write_plain(std::string& out, const Table& table) {
  for (const auto& [key, value] : table) {
    if (value.is_null() || value.table() != nullptr || is_list_of_tables(value)) continue;
    const bool long_text = value.text() != nullptr && value.text()->find('\n') != std::string::npos;
    out += fmt::format("{} = {}\n", key_text(key), long_text ? quoted_lines(*value.text()) : inline_text(value));
  }
}

void write(std::string& out, const Table& table, const std::string& path) {
  write_plain(out, table);
  const auto header = [&](const std::string& name, std::string_view open, std::string_view close) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}{}{}\n", open, name, close);
  };
  for (const auto& [key, value] : table) {
    const std::string name = path.empty() ? key_text(key) : path + "." + key_text(key);
    if (const Table* inner = value.table()) {
      // A table that contains only tables needs no header.
      const bool only_tables = !inner->empty() && std::all_of(inner->begin(), inner->end(), [](const Member& member) {
        return member.second.table() != nullptr;
      });
      if (!only_tables) header(name, "[", "]");
      write(out, *inner, name);
    } else if (is_list_of_tables(value)) {
      for (const Value& element : *value.array()) {
        header(name, "[[", "]]");
        write(out, *element.table(), name);
      }
    }
  }
}

}  // namespace

std::string to_toml(const Table& table) {
  std::string out;
  write(out, table, "");
  return out;
}

}  // namespace wheelsmith::document
