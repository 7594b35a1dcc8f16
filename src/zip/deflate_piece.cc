#include "zip/deflate_piece.h"

// Pieces of one deflate stream, compressed independently.
//
// libdeflate packs three times as fast as zlib, but only whole streams: the last block of each says that the stream
// ends there. To continue after it, that bit must be cleared, but the start of that block is not recorded; blocks begin
// at any bit. So the stream is inflated once more, which is fast, stopping at each block: that gives the position of
// the bit, the end, and proof that the piece unpacks to its input. An empty stored block after it aligns the stream to
// a byte, where the next piece begins. Matches do not cross pieces: with pieces of megabytes the loss is negligible.

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "zip/compressor.h"

namespace wheelsmith::zip {

namespace {

constexpr std::uint64_t k_longest_stored = 65535;
constexpr std::uint64_t k_sample = 16 << 10;
constexpr std::uint64_t k_samples = 5;

// Bits from the start of a stream.
struct Bits {
  std::uint64_t last_block = 0;  // where its header begins
  std::uint64_t end = 0;
};

Bits find_bits(Bytes stream, Bytes contents) {
  z_stream state{};
  if (inflateInit2(&state, -15) != Z_OK) throw Error("cannot initialise zlib");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&state, inflateEnd);
  thread_local std::unique_ptr<std::uint8_t[]> room(new std::uint8_t[k_longest_stored + 1]);
  state.next_in = const_cast<std::uint8_t*>(stream.data());
  state.avail_in = static_cast<unsigned>(stream.size());
  Bits bits;
  std::uint64_t unpacked = 0;
  for (;;) {
    state.next_out = room.get();
    state.avail_out = k_longest_stored + 1;
    const int status = inflate(&state, Z_BLOCK);
    const std::uint64_t got = k_longest_stored + 1 - state.avail_out;
    if ((status != Z_OK && status != Z_BUF_ERROR) || !contents.contains(unpacked, got) ||
        (got != 0 && std::memcmp(room.get(), contents.data() + unpacked, got) != 0)) {
      throw Error("deflated data does not inflate to the same bytes");
    }
    unpacked += got;
    const auto flags = static_cast<unsigned>(state.data_type);
    if ((flags & 128U) != 0) {
      const std::uint64_t at = (stream.size() - state.avail_in) * 8 - (flags & 31U);
      if ((flags & 64U) != 0) {
        if (unpacked != contents.size()) throw Error("deflated data is incomplete");
        bits.end = at;
        return bits;
      }
      bits.last_block = at;
    }
  }
}

Blob stored_blocks(Bytes contents, bool last) {
  const std::uint64_t blocks = std::max<std::uint64_t>(1, (contents.size() + k_longest_stored - 1) / k_longest_stored);
  auto buffer = std::make_shared<Buffer>(contents.size() + 5 * blocks);
  std::uint8_t* at = buffer->data();
  for (std::uint64_t i = 0; i < blocks; ++i) {
    const Bytes part = contents.clamp(i * k_longest_stored, k_longest_stored);
    const auto size = static_cast<std::uint16_t>(part.size());
    *at++ = last && i + 1 == blocks ? 1 : 0;
    for (const unsigned value : {unsigned{size}, ~unsigned{size}}) {
      *at++ = static_cast<std::uint8_t>(value);
      *at++ = static_cast<std::uint8_t>(value >> 8);
    }
    if (size != 0) std::memcpy(at, part.data(), size);
    at += size;
  }
  const Bytes bytes = buffer->bytes();
  return {std::move(buffer), bytes};
}

}  // namespace

bool is_packed_already(Bytes contents) {
  if (contents.size() < k_samples * k_sample) return false;
  static thread_local const Compressor compressor = compressor_of(1);
  std::uint8_t room[k_sample];
  std::uint64_t packed = 0;
  for (std::uint64_t i = 0; i < k_samples; ++i) {
    const std::uint64_t at = (contents.size() - k_sample) / (k_samples - 1) * i;
    const std::size_t size =
        libdeflate_deflate_compress(compressor.get(), contents.data() + at, k_sample, room, sizeof room);
    packed += size == 0 ? k_sample : size;
  }
  return packed >= k_samples * k_sample / 100 * 99;
}

Blob deflate_piece(Bytes contents, int level, bool last) {
  if (contents.size() <= 1 || is_packed_already(contents)) return stored_blocks(contents, last);
  const Compressor compressor = compressor_of(level);
  constexpr std::uint64_t k_border = 6;  // an empty stored block and the padding before it
  auto buffer = std::make_shared<Buffer>(contents.size() + k_border);
  std::uint64_t size =
      libdeflate_deflate_compress(compressor.get(), contents.data(), contents.size(), buffer->data(), contents.size());
  if (size == 0) return stored_blocks(contents, last);
  if (!last) {
    const Bits bits = find_bits(buffer->bytes().slice(0, size), contents);
    std::uint8_t* bytes = buffer->data();
    bytes[bits.last_block / 8] &= static_cast<std::uint8_t>(~(1U << (bits.last_block % 8)));
    // Three zero bits: a block that is stored and not the last. They may need a byte more.
    size = (bits.end + 3 + 7) / 8;
    if (size > (bits.end + 7) / 8) bytes[size - 1] = 0;
    constexpr std::uint8_t k_empty[] = {0x00, 0x00, 0xff, 0xff};
    for (const std::uint8_t byte : k_empty) bytes[size++] = byte;
  }
  const Bytes bytes = buffer->bytes().slice(0, size);
  return {std::move(buffer), bytes};
}

}  // namespace wheelsmith::zip
