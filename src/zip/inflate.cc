// Unpacks members.
//
// A size in an archive is untrusted. Before allocation it is compared with deflate's maximum ratio (1032 to 1: a match
// of 258 bytes takes two bits) and with what no real member does (Entry::is_bomb). After inflating, the stream must
// have filled exactly the claimed size and consumed exactly the packed bytes, and the CRC must match.
//
// Whole members go through libdeflate, which is faster than zlib but needs all input and output at once. The first
// bytes of a member go through zlib, which can stop in between.

#include <fmt/format.h>
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "zip/archive.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::uint64_t k_bomb_archive_limit = 1'000'000;

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const { libdeflate_free_decompressor(decompressor); }
};

// A zlib stream that is reset for every member. Creating one costs 7 kB of state and, on first use, 32 kB of window, so
// each thread keeps its own between calls. Only memory is reused between calls.
class Inflater {
 public:
  Inflater() {
    if (inflateInit2(&m_stream, -MAX_WBITS) != Z_OK) throw Error("not enough memory to inflate");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&m_stream); }

  // Fills `out` from the start of the packed stream and returns how much of it was filled before the stream ended.
  std::size_t fill(Bytes packed, std::string& out) {
    inflateReset(&m_stream);
    std::size_t filled = 0;
    std::uint64_t used = 0;
    std::uint64_t portion = 1024;
    while (filled < out.size()) {
      const Bytes input = packed.clamp(used, portion);
      if (input.empty()) throw Error("the deflate stream ends too early");
      const std::size_t room = std::min<std::size_t>(out.size() - filled, 1 << 30);
      m_stream.next_in = const_cast<Bytef*>(input.data());  // zlib does not write to it
      m_stream.avail_in = static_cast<uInt>(input.size());
      m_stream.next_out = reinterpret_cast<Bytef*>(out.data()) + filled;
      m_stream.avail_out = static_cast<uInt>(room);
      const int status = inflate(&m_stream, Z_SYNC_FLUSH);
      used += input.size() - m_stream.avail_in;
      filled += room - m_stream.avail_out;
      if (status == Z_STREAM_END) break;
      if (status == Z_MEM_ERROR) throw Error("not enough memory to inflate");
      if (status != Z_OK) throw Error("the deflate stream is corrupt");
      portion = std::min<std::uint64_t>(portion * 2, 1 << 20);
    }
    return filled;
  }

 private:
  z_stream m_stream{};
};

Inflater& inflater_of_this_thread() {
  thread_local Inflater inflater;
  return inflater;
}

void refuse_unreadable(const Entry& entry) {
  if (entry.is_encrypted()) throw Error("is encrypted");
  if (entry.method == static_cast<std::uint16_t>(Method::stored)) {
    if (entry.size != entry.packed_size) {
      throw Error(fmt::format("is stored, but claims {} bytes packed and {} unpacked", entry.packed_size, entry.size));
    }
    return;
  }
  if (entry.method != static_cast<std::uint16_t>(Method::deflated)) {
    throw Error(fmt::format("uses compression method {}; only stored and deflated are supported", entry.method));
  }
  if (!can_inflate_to(entry.packed_size, entry.size)) {
    throw Error(fmt::format("claims more than deflate can hold: {} bytes from {}", entry.size, entry.packed_size));
  }
}

void inflate_all(Bytes packed, std::uint8_t* out, std::uint64_t size) {
  const std::unique_ptr<libdeflate_decompressor, FreeDecompressor> decompressor(libdeflate_alloc_decompressor());
  if (!decompressor) throw Error("not enough memory to inflate");
  std::size_t used = 0;
  std::size_t made = 0;
  const auto status =
      libdeflate_deflate_decompress_ex(decompressor.get(), packed.data(), packed.size(), out, size, &used, &made);
  if (status == LIBDEFLATE_INSUFFICIENT_SPACE)
    throw Error(fmt::format("unpacks to more than the claimed {} bytes", size));
  if (status != LIBDEFLATE_SUCCESS) throw Error("the deflate stream is corrupt or ends too early");
  if (made != size) throw Error(fmt::format("unpacks to {} bytes, but claims {}", made, size));
  if (used != packed.size()) {
    throw Error(fmt::format("{} bytes follow its deflate stream inside the member", packed.size() - used));
  }
}

void check_crc(Bytes bytes, std::uint32_t wanted) {
  const std::uint32_t crc = libdeflate_crc32(0, bytes.data(), bytes.size());
  if (crc != wanted) throw Error(fmt::format("has CRC {:08x}, but the directory says {:08x}", crc, wanted));
}

}  // namespace

Bytes Archive::packed(const Entry& entry) const {
  const auto header = find_at<LocalHeader>(m_file, entry.header_offset, k_local_signature);
  if (!header) throw Error(fmt::format("no local header at offset {:#x}", entry.header_offset));
  const std::uint64_t start = entry.header_offset + sizeof(LocalHeader) + header->name_size + header->extra_size;
  const Bytes data = m_file.slice(start, entry.packed_size);
  if (start + data.size() > entry.room_end) {
    throw Error(entry.room_end > entry.header_offset
                    ? fmt::format("its data overlaps the data at offset {:#x}", entry.room_end)
                    : "another directory entry has the same data");
  }
  return data;
}

std::string Archive::peek(const Entry& entry, std::size_t count) const {
  refuse_unreadable(entry);
  const Bytes data = packed(entry);
  const std::uint64_t wanted = std::min<std::uint64_t>(count, entry.size);
  if (wanted == 0) return {};
  if (entry.method == static_cast<std::uint16_t>(Method::stored)) return std::string(data.clamp(0, wanted).text());
  std::string out(static_cast<std::size_t>(wanted), '\0');
  if (inflater_of_this_thread().fill(data, out) < out.size()) {
    throw Error(fmt::format("unpacks to fewer than the claimed {} bytes", entry.size));
  }
  return out;
}

Blob Archive::read(const Entry& entry) const {
  return read(entry, [](std::uint64_t size) {
    auto buffer = std::make_shared<Buffer>(size);
    std::uint8_t* const data = buffer->data();
    return std::shared_ptr<std::uint8_t>(std::move(buffer), data);
  });
}

Blob Archive::read(const Entry& entry, const Allocate& allocate) const {
  refuse_unreadable(entry);
  if (entry.is_bomb() || (is_bomb() && entry.size > k_bomb_archive_limit)) {
    throw Error(fmt::format("would unpack from {} to {} bytes: rejected as a zip bomb", entry.packed_size, entry.size));
  }
  const Bytes data = packed(entry);
  const bool is_stored = entry.method == static_cast<std::uint16_t>(Method::stored);
  // Folders, by some tools, are deflated without even an empty stream.
  if (is_stored || (data.empty() && entry.size == 0)) {
    check_crc(data, entry.crc32);
    return {nullptr, data};
  }
  std::shared_ptr<std::uint8_t> memory = allocate(entry.size);
  inflate_all(data, memory.get(), entry.size);
  const Bytes bytes(memory.get(), entry.size);
  check_crc(bytes, entry.crc32);
  return {std::move(memory), bytes};
}

}  // namespace wheelsmith::zip
