#include "gpu/code/unpack.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"

namespace wheelsmith::gpu {
namespace {

// Common to both unpackers: the output so far.
class GrowingUnpacker : public Unpacker {
 public:
  Bytes unpack_to(std::uint64_t size) final {
    const std::size_t have = m_out.size();
    if (!m_packed_size && have < size) {
      m_out.resize(static_cast<std::size_t>(size));
      m_out.resize(have + step(m_out.data() + have, m_out.size() - have));
    }
    return Bytes(std::span<const std::uint8_t>(m_out));
  }
  [[nodiscard]] std::optional<std::uint64_t> packed_size() const final { return m_packed_size; }

 protected:
  // Writes up to `size` bytes and returns how many; fewer only at the end.
  virtual std::size_t step(std::uint8_t* out, std::size_t size) = 0;
  std::optional<std::uint64_t> m_packed_size;

 private:
  std::vector<std::uint8_t> m_out;
};

class ZstdUnpacker final : public GrowingUnpacker {
 public:
  explicit ZstdUnpacker(Bytes packed) : m_context(ZSTD_createDCtx()), m_in{packed.data(), packed.size(), 0} {
    if (!m_context) throw Error("not enough memory for zstd");
  }

 private:
  std::size_t step(std::uint8_t* data, std::size_t size) override {
    ZSTD_outBuffer out{data, size, 0};
    while (out.pos < out.size) {
      const std::size_t before_in = m_in.pos;
      const std::size_t before_out = out.pos;
      const std::size_t result = ZSTD_decompressStream(m_context.get(), &out, &m_in);
      if (ZSTD_isError(result) != 0) throw Error(std::string("corrupt zstd stream: ") + ZSTD_getErrorName(result));
      if (result == 0) {
        m_packed_size = m_in.pos;
        break;
      }
      if (m_in.pos == before_in && out.pos == before_out) throw Error("the zstd stream is truncated");
    }
    return out.pos;
  }

  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> m_context;
  ZSTD_inBuffer m_in;
};

// zlib counts in unsigned int, so input and output are passed in parts.
class Inflater {
 public:
  explicit Inflater(Bytes packed) : m_packed(packed) {
    if (inflateInit(&m_stream) != Z_OK) throw Error("not enough memory for zlib");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&m_stream); }

  // Fills the output unless the stream ends; returns the number of bytes written.
  std::size_t inflate_into(std::uint8_t* data, std::size_t size) {
    std::size_t done = 0;
    while (done < size && !m_ended) {
      const auto part = static_cast<uInt>(std::min<std::size_t>(size - done, k_part));
      if (m_stream.avail_in == 0) feed();
      m_stream.next_out = data + done;
      m_stream.avail_out = part;
      const int result = ::inflate(&m_stream, Z_NO_FLUSH);
      done += part - m_stream.avail_out;
      if (result == Z_STREAM_END) {
        m_ended = true;
      } else if (result != Z_OK) {
        const bool cut_off = result == Z_BUF_ERROR && m_fed == m_packed.size();
        throw Error(cut_off ? "the zlib stream is truncated" : "corrupt zlib stream");
      }
    }
    return done;
  }
  [[nodiscard]] bool ended() const { return m_ended; }
  [[nodiscard]] std::uint64_t used() const { return m_fed - m_stream.avail_in; }

 private:
  static constexpr std::size_t k_part = std::size_t{1} << 30;

  void feed() {
    const Bytes part = m_packed.clamp(m_fed, k_part);
    m_stream.next_in = const_cast<Bytef*>(part.data());
    m_stream.avail_in = static_cast<uInt>(part.size());
    m_fed += part.size();
  }

  Bytes m_packed;
  std::uint64_t m_fed = 0;
  z_stream m_stream{};
  bool m_ended = false;
};

class ZlibUnpacker final : public GrowingUnpacker {
 public:
  explicit ZlibUnpacker(Bytes packed) : m_inflater(packed) {}

 private:
  std::size_t step(std::uint8_t* data, std::size_t size) override {
    const std::size_t done = m_inflater.inflate_into(data, size);
    if (m_inflater.ended()) m_packed_size = m_inflater.used();
    return done;
  }
  Inflater m_inflater;
};

}  // namespace

std::unique_ptr<Unpacker> make_unpacker(Packing packing, Bytes packed) {
  if (packing == Packing::zstd) return std::make_unique<ZstdUnpacker>(packed);
  return std::make_unique<ZlibUnpacker>(packed);
}

std::uint64_t zstd_frame_size(Bytes bytes) {
  const std::size_t size = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) throw Error(std::string("corrupt zstd stream: ") + ZSTD_getErrorName(size));
  return size;
}

std::optional<std::uint64_t> zstd_content_size(Bytes bytes) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
  return size;
}

std::optional<std::uint64_t> zlib_stream_size(Bytes bytes, std::uint64_t& budget) {
  Inflater inflater(bytes);
  std::vector<std::uint8_t> sink(std::size_t{1} << 16);
  while (budget != 0) {
    const std::size_t want = static_cast<std::size_t>(std::min<std::uint64_t>(sink.size(), budget));
    budget -= inflater.inflate_into(sink.data(), want);
    if (inflater.ended()) return inflater.used();
  }
  return std::nullopt;
}

}  // namespace wheelsmith::gpu
