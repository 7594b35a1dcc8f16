#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace wheelsmith::gpu {

// Reads the subset of MessagePack that kpack uses, value by value. All functions throw Error if the next value is of
// another kind or the bytes end. Counts never exceed the remaining bytes, so a loop over them ends and a list of that
// length may be allocated.
class MsgpackReader {
 public:
  explicit MsgpackReader(Bytes bytes) : m_bytes(bytes) {}

  std::uint64_t take_map();    // the number of pairs that follow
  std::uint64_t take_array();  // the number of values that follow
  std::string_view take_string();
  std::uint64_t take_unsigned();
  // Skips one value of any kind and depth.
  void skip();

  [[nodiscard]] std::uint64_t at() const { return m_at; }

 private:
  struct Head;
  Head take_head();
  std::uint64_t take_big_endian(unsigned bytes);
  std::uint64_t checked_count(std::uint64_t count, std::uint64_t values_each) const;

  Bytes m_bytes;
  std::uint64_t m_at = 0;
};

}  // namespace wheelsmith::gpu
