// module: archive
// Parses the input as a tar archive in whatever compression it claims.

#include <cstddef>
#include <cstdint>

#include "archive/archive.h"
#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  archive::TarLimits limits;
  limits.entries = 1000;
  limits.bytes = 4 << 20;
  std::uint64_t left = 0;
  try {
    archive::read_tar(
        Bytes(data, size),
        [&](const archive::TarEntry& entry) {
          // The content is complete, and plain_name() maps the name to itself.
          if (left != 0 || entry.name.empty() || archive::plain_name(entry.name) != entry.name) __builtin_trap();
          left = entry.size;
        },
        [&](Bytes piece) {
          if (piece.empty() || piece.size() > left) __builtin_trap();
          left -= piece.size();
        },
        limits);
    if (left != 0) __builtin_trap();
  } catch (const Error&) {}
  return 0;
}
