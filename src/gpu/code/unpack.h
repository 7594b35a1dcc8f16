#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/bytes.h"

namespace wheelsmith::gpu {

enum class Packing : std::uint16_t { zlib = 0, zstd = 1 };  // numbers of CCOB's method field

// Decompresses only as much of a stream as requested. Throws Error for a corrupt stream.
class Unpacker {
 public:
  virtual ~Unpacker() = default;
  // Appends until there are `size` bytes, or the stream ends.
  virtual Bytes unpack_to(std::uint64_t size) = 0;
  // Bytes of input used when the stream has ended.
  [[nodiscard]] virtual std::optional<std::uint64_t> packed_size() const = 0;
};

std::unique_ptr<Unpacker> make_unpacker(Packing packing, Bytes packed);

// The packed size of the zstd frame at the start of the bytes, found without decompressing it. Throws Error.
std::uint64_t zstd_frame_size(Bytes bytes);
// The unpacked size declared by the frame, if any.
std::optional<std::uint64_t> zstd_content_size(Bytes bytes);
// The packed size of the zlib stream at the start of the bytes, found by inflating it; nothing if that exceeds the
// budget, which is reduced by the amount used.
std::optional<std::uint64_t> zlib_stream_size(Bytes bytes, std::uint64_t& budget);

}  // namespace wheelsmith::gpu
