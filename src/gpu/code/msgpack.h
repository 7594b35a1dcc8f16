#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace wheelsmith::gpu {

// Reads MessagePack one value after the other, as far as kpack uses it. Everything throws Error where the bytes hold
// something else than what is asked for, or end. Counts are never larger than the bytes that are left, so that a loop
// over them ends and a list of that length may be allocated.
class MsgpackReader {
 public:
  explicit MsgpackReader(Bytes bytes) : m_bytes(bytes) {}

  std::uint64_t take_map();    // the number of pairs that follow
  std::uint64_t take_array();  // the number of values that follow
  std::string_view take_string();
  std::uint64_t take_unsigned();
  // Steps over one value of any kind and depth.
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
