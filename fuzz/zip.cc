// module: zip
// Opens the input, peeks at each member, reads small ones completely and checks the archive.

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "zip/archive.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  try {
    const zip::Archive archive = zip::Archive::open(Bytes(data, size));
    for (const zip::Entry& entry : archive.entries()) {
      if (archive.find(entry.name) == nullptr) __builtin_trap();
      std::string start;
      try {
        start = archive.peek(entry, 24);
        if (entry.size > 1'000'000) continue;
        const Blob whole = archive.read(entry);
        // peek() must match the beginning of read().
        if (whole.bytes.size() != entry.size || !whole.bytes.starts_with(start)) __builtin_trap();
      } catch (const Error&) {}
    }
    if (archive.check().size() > 51 * 40) __builtin_trap();
  } catch (const Error&) {}
  return 0;
}
