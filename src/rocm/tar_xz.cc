#include "rocm/tar_xz.h"

#include <lzma.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/error.h"
#include "sys/process/process.h"

namespace wheelsmith::rocm {

namespace {

constexpr std::uint64_t k_xz_block = 8 << 20;  // fixed, so that it does not depend on the number of threads
constexpr std::uint64_t k_piece = 4 << 20;

}  // namespace

void write_xz(const DevelTar& tar, unsigned threads, Sink& sink) {
  lzma_stream stream = LZMA_STREAM_INIT;
  lzma_mt options{};
  options.threads = std::max(1U, threads);
  options.block_size = k_xz_block;
  options.preset = 6;
  options.check = LZMA_CHECK_CRC64;
  if (lzma_stream_encoder_mt(&stream, &options) != LZMA_OK) throw Error("not enough memory to start xz");
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> end(&stream, lzma_end);
  std::vector<std::uint8_t> room(1 << 20);
  Blob piece;
  for (std::uint64_t at = 0;;) {
    if (sys::interrupted()) throw Error("interrupted");
    if (stream.avail_in == 0 && at < tar.size()) {
      const std::uint64_t size = std::min(k_piece, tar.size() - at);
      piece = tar.piece(at, size);
      at += size;
      stream.next_in = piece.bytes.data();
      stream.avail_in = size;
    }
    stream.next_out = room.data();
    stream.avail_out = room.size();
    const lzma_ret status = lzma_code(&stream, at == tar.size() ? LZMA_FINISH : LZMA_RUN);
    if (stream.avail_out < room.size()) sink.write(Bytes(room.data(), room.size() - stream.avail_out));
    if (status == LZMA_STREAM_END) return;
    if (status != LZMA_OK) throw Error("not enough memory to compress the devel tree with xz");
  }
}

}  // namespace wheelsmith::rocm
