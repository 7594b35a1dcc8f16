#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith::gpu {

// A new file described by the old one: parts of it, zeros, and new bytes. Nothing large is copied until it is written.
class Splice {
 public:
  // Appends.
  void copy(std::uint64_t old_offset, std::uint64_t size);
  void zeros(std::uint64_t size);
  void bytes(std::string text);
  // Zeros up to that size of the new file.
  void pad_to(std::uint64_t size);
  // Overwrites bytes at an offset of the new file, after everything was appended. Patches must not overlap.
  void patch(std::uint64_t new_offset, std::string text);

  [[nodiscard]] std::uint64_t size() const { return m_size; }
  // Writes [offset, offset + size) of the new file to `out`. From any thread. Throws Error if the old file is too
  // short.
  void read(Bytes old, std::uint64_t offset, std::uint64_t size, std::uint8_t* out) const;
  // The whole new file.
  [[nodiscard]] Buffer apply(Bytes old) const;

 private:
  struct Piece {
    std::uint64_t at = 0;  // in the new file
    std::uint64_t size = 0;
    enum class Kind : std::uint8_t { copy, zeros, bytes } kind = Kind::copy;
    std::uint64_t from = 0;  // copy: in the old file
    std::string text = {};
  };
  void append(Piece piece);

  std::vector<Piece> m_pieces;   // without gaps
  std::vector<Piece> m_patches;  // sorted by place
  std::uint64_t m_size = 0;
};

}  // namespace wheelsmith::gpu
