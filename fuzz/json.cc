// module: document
// Any text is a value or an Error; a value must round-trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "document/value.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) return 0;
  document::Value value;
  try {
    value = document::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz.json");
  } catch (const Error&) {
    return 0;
  }
  if (document::parse_json(document::to_json(value), "again.json") != value) std::abort();
  if (document::parse_json(document::canonical_json(value), "canonical.json") != value) std::abort();
  return 0;
}
