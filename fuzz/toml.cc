// module: document
// Any text is a table or an Error; a table must round-trip. The reader of plain documents gives what toml++ does, with
// the same lines.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "document/plain_toml.h"
#include "document/value.h"

namespace {

// NaN is not equal to itself.
bool has_nan(const wheelsmith::document::Value& value) {
  if (value.is_number()) return value.number() != value.number();
  if (const auto* list = value.array()) {
    for (const auto& element : *list) {
      if (has_nan(element)) return true;
    }
  }
  if (const auto* table = value.table()) {
    for (const auto& [key, member] : *table) {
      if (has_nan(member)) return true;
    }
  }
  return false;
}

// Equal values, and the line of each.
bool is_same(const wheelsmith::document::Value& a, const wheelsmith::document::Value& b) {
  if (a.line != b.line) return false;
  const auto *list = a.array(), *other_list = b.array();
  if (list != nullptr && other_list != nullptr) {
    if (list->size() != other_list->size()) return false;
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (!is_same((*list)[i], (*other_list)[i])) return false;
    }
    return true;
  }
  const auto *table = a.table(), *other_table = b.table();
  if (table != nullptr && other_table != nullptr) {
    if (table->keys() != other_table->keys()) return false;
    for (const auto& [key, member] : *table) {
      if (!is_same(member, *other_table->find(key))) return false;
    }
    return true;
  }
  return a == b;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto plain = document::read_plain_toml(text)) {
    document::Table other;
    try {
      other = document::parse_toml_by_library(text, "fuzz.toml");
    } catch (const Error& error) {
      // The limit on the dots of a line also counts those of a comment.
      if (std::string_view(error.what()).find("dots") == std::string_view::npos) std::abort();
      other = *plain;
    }
    if (!is_same(*plain, other)) std::abort();
  }
  document::Table table;
  try {
    table = document::parse_toml(text, "fuzz.toml");
  } catch (const Error&) {
    return 0;
  }
  if (!has_nan(table) && document::parse_toml(document::to_toml(table), "again.toml") != table) std::abort();
  return 0;
}
