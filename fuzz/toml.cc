// module: document
// Any text is a table or an Error; a table must round-trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) return 0;
  document::Table table;
  try {
    table = document::parse_toml({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  } catch (const Error&) {
    return 0;
  }
  if (!has_nan(table) && document::parse_toml(document::to_toml(table), "again.toml") != table) std::abort();
  return 0;
}
