// Compresses members in pieces, in parallel, and writes them in order.
//
// Like writer_parallel.cc for members, this works on pieces (in_order.h). Large members keep all threads busy with only
// a few pieces in memory. Their sizes are known when the last piece is written, so the header before them is rewritten.

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "zip/deflate_piece.h"
#include "zip/format.h"
#include "zip/in_order.h"
#include "zip/writer.h"

namespace wheelsmith::zip {

namespace {

constexpr std::uint64_t k_piece = 4 << 20;
// Incompressible contents grow slightly by framing. If that could exceed the size limit of a plain header, the member
// is stored: whether its header is ZIP64 must be known before its first byte is written.
constexpr std::uint64_t k_near_zip64 = 0xffffffffULL - (1 << 24);

}  // namespace

class Writer::PieceLine {
 public:
  PieceLine(Writer& writer, const std::vector<PiecedMember>& members,
            const std::function<void(std::uint64_t, Bytes)>& write_at)
      : m_writer(writer), m_members(members), m_write_at(write_at) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::uint64_t count = std::max<std::uint64_t>(1, (members[i].size + k_piece - 1) / k_piece);
      for (std::uint64_t piece = 0; piece < count; ++piece) {
        const std::uint64_t offset = piece * k_piece;
        m_pieces.push_back({i, offset, std::min(k_piece, members[i].size - offset), piece == 0, piece + 1 == count});
      }
    }
    m_order.emplace(m_pieces.size(), writer.m_options.memory);
  }

  [[nodiscard]] std::size_t count() const { return m_pieces.size(); }

  void work(std::size_t i) {
    const std::uint64_t cost = 2 * m_pieces[i].size;
    if (!m_order->enter(i, cost)) return;
    try {
      m_order->hand_over(i, fetch(i), cost, cost,
                         [this](std::size_t next, const Done& done) { write(m_pieces[next], done); });
    } catch (const Error& error) {
      m_order->fail(i);
      throw error.in(printable(m_members[m_pieces[i].member].name));
    } catch (...) {
      m_order->fail(i);
      throw;
    }
  }

 private:
  struct Piece {
    std::size_t member = 0;
    std::uint64_t offset = 0, size = 0;
    bool first = false, last = false;

    [[nodiscard]] bool whole() const { return first && last; }
  };
  struct Done {
    Packed packed;
    Blob contents;  // of a piece among several: to be seen in order
  };

  [[nodiscard]] static bool is_stored(const PiecedMember& member) {
    return member.packing == Packing::stored || (member.size > k_near_zip64 && member.size < k_in_zip64);
  }

  [[nodiscard]] Done fetch(std::size_t i) const {
    const Piece& piece = m_pieces[i];
    const PiecedMember& member = m_members[piece.member];
    Blob contents = piece.size == 0 ? Blob{} : member.open(piece.offset, piece.size);
    if (contents.bytes.size() != piece.size) throw Error("has a different size than announced");
    if (piece.whole()) {
      if (member.seen) member.seen(contents.bytes);
      const Packing packing = is_packed_already(contents.bytes) ? Packing::stored : member.packing;
      return {pack(std::move(contents), m_writer.m_options.level, packing), {}};
    }
    Done done;
    done.packed.crc32 = libdeflate_crc32(0, contents.bytes.data(), contents.bytes.size());
    done.packed.size = piece.size;
    done.packed.data =
        is_stored(member) ? contents : deflate_piece(contents.bytes, m_writer.m_options.level, piece.last);
    done.contents = std::move(contents);
    return done;
  }

  void write(const Piece& piece, const Done& done) {
    const PiecedMember& member = m_members[piece.member];
    if (piece.whole()) return m_writer.write(member.name, member.mode, done.packed);
    if (piece.first) {
      m_header_at = m_writer.m_offset;
      m_whole = {};
      m_whole.method = is_stored(member) ? Method::stored : Method::deflated;
      m_whole.size = member.size;
      m_packed_size = 0;
      m_writer.put(Bytes(m_writer.local_header(member.name, m_whole, 0)));
    }
    if (member.seen) member.seen(done.contents.bytes);
    m_whole.crc32 = static_cast<std::uint32_t>(
        crc32_combine(m_whole.crc32, done.packed.crc32, static_cast<z_off_t>(done.packed.size)));
    m_packed_size += done.packed.data.bytes.size();
    m_writer.put(done.packed.data.bytes);
    if (piece.last) {
      if (m_packed_size >= k_in_zip64 && member.size < k_in_zip64) throw Error("grew when it was packed");
      m_write_at(m_header_at, Bytes(m_writer.local_header(member.name, m_whole, m_packed_size)));
      m_writer.add_to_directory(member.name, member.mode, m_whole, m_packed_size, m_header_at);
    }
  }

  Writer& m_writer;
  const std::vector<PiecedMember>& m_members;
  const std::function<void(std::uint64_t, Bytes)>& m_write_at;
  std::vector<Piece> m_pieces;
  std::optional<InOrder<Done>> m_order;  // set once the pieces are counted
  // Of the member of several pieces that is being written:
  std::uint64_t m_header_at = 0;
  std::uint64_t m_packed_size = 0;
  Packed m_whole;
};

void Writer::add_pieces(const std::vector<PiecedMember>& members,
                        const std::function<void(std::uint64_t offset, Bytes bytes)>& write_at) {
  for (const PiecedMember& member : members) claim(member.name);
  PieceLine line(*this, members, write_at);
  parallel_for(line.count(), m_options.threads, [&](std::size_t i) { line.work(i); });
}

}  // namespace wheelsmith::zip
