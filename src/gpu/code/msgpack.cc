#include "gpu/code/msgpack.h"

#include <fmt/format.h>

#include "base/error.h"

// A value is one byte for its kind (and for small values the size or number), then the size or number, then its
// contents:
//
//   00-7f number | 80-8f map | 90-9f array | a0-bf text | c0 nil | c2 c3 bool | c4-c6 binary | c7-c9 extension
//   ca cb float  | cc-cf unsigned | d0-d3 signed | d4-d8 extension of 1, 2, 4, 8, 16 | d9-db text | dc dd array
//   de df map    | e0-ff negative number

namespace wheelsmith::gpu {

struct MsgpackReader::Head {
  enum class Kind : std::uint8_t { number, map, array, text, other } kind = Kind::other;
  std::uint64_t value = 0;  // the number, or the count of pairs, values or bytes
};

namespace {

// d4 … d8 and similar: the low bits give the size as a power of two.
unsigned width(unsigned lead, unsigned first) { return 1U << (lead - first); }

}  // namespace

std::uint64_t MsgpackReader::take_big_endian(unsigned bytes) {
  const Bytes part = m_bytes.slice(m_at, bytes);
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value = value << 8 | part.u8(i);
  m_at += bytes;
  return value;
}

MsgpackReader::Head MsgpackReader::take_head() {
  using enum Head::Kind;
  const unsigned lead = static_cast<unsigned>(take_big_endian(1));
  if (lead < 0x80) return {number, lead};
  if (lead < 0x90) return {map, lead & 0x0fU};
  if (lead < 0xa0) return {array, lead & 0x0fU};
  if (lead < 0xc0) return {text, lead & 0x1fU};
  if (lead >= 0xe0 || lead == 0xc0 || lead == 0xc2 || lead == 0xc3) return {other, 0};
  if (lead >= 0xc4 && lead <= 0xc6) return {other, take_big_endian(width(lead, 0xc4))};
  if (lead >= 0xc7 && lead <= 0xc9) return {other, take_big_endian(width(lead, 0xc7)) + 1};  // with its type
  if (lead == 0xca || lead == 0xcb) return {other, lead == 0xca ? 4U : 8U};
  if (lead >= 0xcc && lead <= 0xcf) return {number, take_big_endian(width(lead, 0xcc))};
  if (lead >= 0xd0 && lead <= 0xd3) return {other, width(lead, 0xd0)};
  if (lead >= 0xd4 && lead <= 0xd8) return {other, width(lead, 0xd4) + 1};
  if (lead >= 0xd9 && lead <= 0xdb) return {text, take_big_endian(width(lead, 0xd9))};
  if (lead == 0xdc || lead == 0xdd) return {array, take_big_endian(lead == 0xdc ? 2 : 4)};
  if (lead == 0xde || lead == 0xdf) return {map, take_big_endian(lead == 0xde ? 2 : 4)};
  throw Error(fmt::format("byte {:#x} at offset {:#x} is not the start of a MessagePack value", lead, m_at - 1));
}

// Every value takes at least one byte.
std::uint64_t MsgpackReader::checked_count(std::uint64_t count, std::uint64_t values_each) const {
  if (count * values_each > m_bytes.size() - m_at) {
    throw Error(fmt::format("{} values at offset {:#x} do not fit in the remaining bytes", count, m_at));
  }
  return count;
}

std::uint64_t MsgpackReader::take_map() {
  const Head head = take_head();
  if (head.kind != Head::Kind::map) throw Error(fmt::format("expected a map before offset {:#x}", m_at));
  return checked_count(head.value, 2);
}

std::uint64_t MsgpackReader::take_array() {
  const Head head = take_head();
  if (head.kind != Head::Kind::array) throw Error(fmt::format("expected an array before offset {:#x}", m_at));
  return checked_count(head.value, 1);
}

std::string_view MsgpackReader::take_string() {
  const Head head = take_head();
  if (head.kind != Head::Kind::text) throw Error(fmt::format("expected a string before offset {:#x}", m_at));
  const std::string_view text = m_bytes.slice(m_at, head.value).text();
  m_at += head.value;
  return text;
}

std::uint64_t MsgpackReader::take_unsigned() {
  const std::uint64_t start = m_at;
  const Head head = take_head();
  if (head.kind == Head::Kind::number) return head.value;
  // Some writers use a signed form for non-negative numbers.
  const unsigned lead = m_bytes.u8(start);
  if (lead >= 0xd0 && lead <= 0xd3) {
    const unsigned bytes = width(lead, 0xd0);
    const std::uint64_t value = take_big_endian(bytes);
    if ((value >> (bytes * 8 - 1)) == 0) return value;
  }
  throw Error(fmt::format("expected an unsigned number at offset {:#x}", start));
}

// A count of remaining values replaces recursion.
void MsgpackReader::skip() {
  for (std::uint64_t pending = 1; pending != 0; --pending) {
    const Head head = take_head();
    switch (head.kind) {
      case Head::Kind::number: break;
      case Head::Kind::map: pending += 2 * checked_count(head.value, 2); break;
      case Head::Kind::array: pending += checked_count(head.value, 1); break;
      case Head::Kind::text:
      case Head::Kind::other:
        (void)m_bytes.slice(m_at, head.value);
        m_at += head.value;
        break;
    }
  }
}

}  // namespace wheelsmith::gpu
