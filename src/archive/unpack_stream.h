#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.h"

namespace wheelsmith::archive {

// A stream of bytes.
class Stream {
 public:
  virtual ~Stream() = default;
  // Fills as much as it can; 0 only at the end. Throws Error for corrupt or truncated data.
  virtual std::uint64_t read(std::span<std::uint8_t> into) = 0;
  // Whether the end of the data is proven by a checksum or an end mark of the compression.
  [[nodiscard]] virtual bool proves_its_end() const = 0;
};

// The unpacked bytes of gzip (also of several members), xz or zstd, detected by the first bytes; anything else is
// passed through. Throws Error for known but unsupported compressions.
std::unique_ptr<Stream> unpack_stream(Bytes packed);

}  // namespace wheelsmith::archive
