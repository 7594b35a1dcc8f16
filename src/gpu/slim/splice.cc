#include "gpu/slim/splice.h"

#include <algorithm>
#include <cstring>

namespace wheelsmith::gpu {

void Splice::append(Piece piece) {
  if (piece.size == 0) return;
  piece.at = m_size;
  m_size += piece.size;
  if (!m_pieces.empty() && piece.kind != Piece::Kind::bytes && m_pieces.back().kind == piece.kind) {
    Piece& last = m_pieces.back();
    if (piece.kind == Piece::Kind::zeros || last.from + last.size == piece.from) {
      last.size += piece.size;
      return;
    }
  }
  m_pieces.push_back(std::move(piece));
}

void Splice::copy(std::uint64_t old_offset, std::uint64_t size) {
  append({0, size, Piece::Kind::copy, old_offset, {}});
}

void Splice::zeros(std::uint64_t size) { append({0, size, Piece::Kind::zeros, 0, {}}); }

void Splice::bytes(std::string text) {
  const std::uint64_t size = text.size();
  append({0, size, Piece::Kind::bytes, 0, std::move(text)});
}

void Splice::pad_to(std::uint64_t size) {
  if (size > m_size) zeros(size - m_size);
}

void Splice::patch(std::uint64_t new_offset, std::string text) {
  Piece piece{new_offset, text.size(), Piece::Kind::bytes, 0, std::move(text)};
  const auto place = std::ranges::upper_bound(m_patches, new_offset, {}, &Piece::at);
  m_patches.insert(place, std::move(piece));
}

void Splice::read(Bytes old, std::uint64_t offset, std::uint64_t size, std::uint8_t* out) const {
  const std::uint64_t end = offset + size;
  const auto lay = [&](const std::vector<Piece>& pieces) {
    auto piece = std::ranges::upper_bound(pieces, offset, {}, &Piece::at);
    if (piece != pieces.begin()) --piece;
    for (; piece != pieces.end() && piece->at < end; ++piece) {
      const std::uint64_t from = std::max(piece->at, offset), to = std::min(piece->at + piece->size, end);
      if (from >= to) continue;
      std::uint8_t* target = out + (from - offset);
      switch (piece->kind) {
        case Piece::Kind::copy:
          std::memcpy(target, old.slice(piece->from + (from - piece->at), to - from).data(), to - from);
          break;
        case Piece::Kind::zeros: std::memset(target, 0, to - from); break;
        case Piece::Kind::bytes: std::memcpy(target, piece->text.data() + (from - piece->at), to - from); break;
      }
    }
  };
  lay(m_pieces);
  lay(m_patches);
}

Buffer Splice::apply(Bytes old) const {
  Buffer buffer(m_size);
  read(old, 0, m_size, buffer.data());
  return buffer;
}

}  // namespace wheelsmith::gpu
