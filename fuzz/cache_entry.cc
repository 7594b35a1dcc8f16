// module: cache
// Entries of the compile cache, which a disk or a remote storage may have damaged or forged.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "cache/entry.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)cache::unpack_entry("key", bytes, 1 << 20);
  if (cache::unpack_entry("key", cache::pack_entry("key", bytes, 1), 1 << 24) != bytes) std::abort();
  try {
    const cache::Unit unit = cache::Unit::from_bytes(bytes);
    if (cache::Unit::from_bytes(unit.to_bytes()).variants != unit.variants) std::abort();
  } catch (const Error&) {  // not a unit
  }
  try {
    (void)cache::Result::from_bytes(bytes);
  } catch (const Error&) {  // not a result
  }
  return 0;
}
