#include "archive/unpack_stream.h"

// Streaming decompression: independent of the archive's claims, memory is limited to one window of the compressor (32
// kB for gzip, at most 128 MB for zstd and 512 MB for xz; larger ones are rejected) and the caller's buffer.
//
// All three formats allow several streams one after the other, and what comes out is their contents joined; a gzip file
// may also be padded with zeros (tapes were). Any other trailing bytes are an error: readers that disagree about them
// would unpack different contents from the same file.

#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace wheelsmith::archive {

namespace {

constexpr std::string_view k_gzip_magic = "\x1f\x8b";
constexpr std::string_view k_xz_magic{
    "\xfd"
    "7zXZ\0",
    6};
constexpr std::string_view k_zstd_magic = "\x28\xb5\x2f\xfd";
constexpr std::uint64_t k_xz_memory = 512ull << 20;
constexpr int k_zstd_window_log = 27;

class PlainStream final : public Stream {
 public:
  explicit PlainStream(Bytes bytes) : m_rest(bytes) {}

  std::uint64_t read(std::span<std::uint8_t> into) override {
    const Bytes part = m_rest.clamp(0, into.size());
    std::copy_n(part.data(), part.size(), into.data());
    m_rest = m_rest.from(part.size());
    return part.size();
  }
  [[nodiscard]] bool proves_its_end() const override { return false; }

 private:
  Bytes m_rest;
};

class GzipStream final : public Stream {
 public:
  explicit GzipStream(Bytes packed) : m_rest(packed) {
    constexpr int k_gzip_only = 16 + MAX_WBITS;
    if (inflateInit2(&m_zlib, k_gzip_only) != Z_OK) throw Error("not enough memory to unpack gzip");
  }
  ~GzipStream() override { inflateEnd(&m_zlib); }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;

  std::uint64_t read(std::span<std::uint8_t> into) override {
    std::uint64_t done = 0;
    while (!m_ended && done < into.size()) done += step(into.subspan(done));
    return done;
  }
  [[nodiscard]] bool proves_its_end() const override { return true; }

 private:
  std::uint64_t step(std::span<std::uint8_t> into) {
    constexpr std::uint64_t k_most = std::numeric_limits<uInt>::max();
    const Bytes input = m_rest.clamp(0, k_most);
    const auto room = static_cast<uInt>(std::min<std::uint64_t>(into.size(), k_most));
    m_zlib.next_in = const_cast<Bytef*>(input.data());  // zlib's interface from before const; it only reads
    m_zlib.avail_in = static_cast<uInt>(input.size());
    m_zlib.next_out = into.data();
    m_zlib.avail_out = room;
    const int result = inflate(&m_zlib, Z_NO_FLUSH);
    const std::uint64_t taken = input.size() - m_zlib.avail_in;
    const std::uint64_t given = room - m_zlib.avail_out;
    m_rest = m_rest.from(taken);
    if (result == Z_STREAM_END) {
      next_member();
    } else if (result == Z_BUF_ERROR || (result == Z_OK && taken == 0 && given == 0)) {
      throw Error("gzip: the file is truncated");
    } else if (result != Z_OK) {
      throw Error(fmt::format("gzip: the data is corrupt ({})", m_zlib.msg != nullptr ? m_zlib.msg : "zlib"));
    }
    return given;
  }

  void next_member() {
    if (m_rest.starts_with(k_gzip_magic)) {
      inflateReset(&m_zlib);
      return;
    }
    const std::string_view rest = m_rest.text();
    if (rest.find_first_not_of('\0') != std::string_view::npos)
      throw Error("gzip: unexpected bytes after the end of the data");
    m_ended = true;
  }

  Bytes m_rest;
  z_stream m_zlib{};
  bool m_ended = false;
};

class XzStream final : public Stream {
 public:
  explicit XzStream(Bytes packed) {
    if (lzma_stream_decoder(&m_lzma, k_xz_memory, LZMA_CONCATENATED) != LZMA_OK) {
      throw Error("not enough memory to unpack xz");
    }
    m_lzma.next_in = packed.data();
    m_lzma.avail_in = static_cast<std::size_t>(packed.size());
  }
  ~XzStream() override { lzma_end(&m_lzma); }
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;

  std::uint64_t read(std::span<std::uint8_t> into) override {
    m_lzma.next_out = into.data();
    m_lzma.avail_out = into.size();
    while (!m_ended && m_lzma.avail_out > 0) {
      const lzma_ret result = lzma_code(&m_lzma, LZMA_FINISH);
      if (result == LZMA_STREAM_END) {
        m_ended = true;
      } else if (result == LZMA_BUF_ERROR) {
        throw Error("xz: the file is truncated");
      } else if (result == LZMA_MEMLIMIT_ERROR) {
        throw Error("xz: unpacking needs more than 512 MB of memory");
      } else if (result != LZMA_OK) {
        throw Error("xz: the data is corrupt");
      }
    }
    return into.size() - m_lzma.avail_out;
  }
  [[nodiscard]] bool proves_its_end() const override { return true; }

 private:
  lzma_stream m_lzma = LZMA_STREAM_INIT;
  bool m_ended = false;
};

class ZstdStream final : public Stream {
 public:
  explicit ZstdStream(Bytes packed)
      : m_zstd(ZSTD_createDStream(), ZSTD_freeDStream), m_input{packed.data(), packed.size(), 0} {
    if (!m_zstd) throw Error("not enough memory to unpack zstd");
    ZSTD_DCtx_setParameter(m_zstd.get(), ZSTD_d_windowLogMax, k_zstd_window_log);
  }

  std::uint64_t read(std::span<std::uint8_t> into) override {
    ZSTD_outBuffer output{into.data(), into.size(), 0};
    while (output.pos < output.size) {
      if (m_between_frames && m_input.pos == m_input.size) break;
      const std::size_t taken_before = m_input.pos;
      const std::size_t given_before = output.pos;
      const std::size_t result = ZSTD_decompressStream(m_zstd.get(), &output, &m_input);
      if (ZSTD_isError(result) != 0) {
        throw Error(fmt::format("zstd: the data is corrupt ({})", ZSTD_getErrorName(result)));
      }
      m_between_frames = result == 0;
      const bool stuck = m_input.pos == taken_before && output.pos == given_before;
      if (!m_between_frames && stuck) throw Error("zstd: the file is truncated");
    }
    return output.pos;
  }
  // Frames carry their end, and most a checksum too.
  [[nodiscard]] bool proves_its_end() const override { return true; }

 private:
  std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> m_zstd;
  ZSTD_inBuffer m_input;
  bool m_between_frames = true;
};

}  // namespace

std::unique_ptr<Stream> unpack_stream(Bytes packed) {
  if (packed.starts_with(k_gzip_magic)) return std::make_unique<GzipStream>(packed);
  if (packed.starts_with(k_xz_magic)) return std::make_unique<XzStream>(packed);
  if (packed.starts_with(k_zstd_magic)) return std::make_unique<ZstdStream>(packed);
  return std::make_unique<PlainStream>(packed);
}

}  // namespace wheelsmith::archive
