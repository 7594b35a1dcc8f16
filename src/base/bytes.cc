#include "base/bytes.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "base/error.h"

namespace wheelsmith {

void Bytes::refuse(std::uint64_t offset, std::uint64_t size) const {
  throw Error(fmt::format("{} bytes at offset {:#x} are outside the {} bytes available", size, offset, m_size));
}

std::string_view Bytes::c_string(std::uint64_t offset) const {
  const Bytes rest = from(offset);
  const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
  if (end == nullptr) throw Error(fmt::format("the string at offset {:#x} is not terminated", offset));
  return {reinterpret_cast<const char*>(rest.data()),
          static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - rest.data())};
}

namespace {

// The position in the needle of the two adjacent bytes that are rarest in other data: not the underscores and zeros
// common in strings and tables.
std::size_t rare_pair(std::string_view needle) {
  const auto is_common = [](char c) { return c == '_' || c == '\0'; };
  for (std::size_t i = 0; i + 1 < needle.size(); ++i) {
    if (!is_common(needle[i]) && !is_common(needle[i + 1])) return i;
  }
  return 0;
}

}  // namespace

// Compares 16 positions at once with two adjacent bytes of the needle (every 64-bit machine has vectors of that size)
// and compares the rest only where both match. Half a gigabyte is searched for every big library.
std::uint64_t Bytes::find(std::string_view needle, std::uint64_t from) const {
  using Block = std::uint8_t __attribute__((vector_size(16)));
  if (needle.size() < 2 || needle.size() > m_size) return m_size;
  const std::uint64_t last = m_size - needle.size();  // the last possible start
  const auto holds = [&](std::uint64_t at) { return std::memcmp(m_data + at, needle.data(), needle.size()) == 0; };
  const std::size_t pair = rare_pair(needle);
  const auto first = static_cast<std::uint8_t>(needle[pair]);
  const auto second = static_cast<std::uint8_t>(needle[pair + 1]);
  std::uint64_t at = from;
  while (at <= last && m_size - at > sizeof(Block) + pair) {
    Block here, next;
    std::memcpy(&here, m_data + at + pair, sizeof here);
    std::memcpy(&next, m_data + at + pair + 1, sizeof next);
    const Block hits = reinterpret_cast<Block>((here == first) & (next == second));
    std::uint64_t parts[sizeof(Block) / 8];
    std::memcpy(parts, &hits, sizeof hits);
    if ((parts[0] | parts[1]) != 0) {
      for (std::uint64_t i = 0; i < sizeof(Block) && at + i <= last; ++i) {
        if (hits[i] != 0 && holds(at + i)) return at + i;
      }
    }
    at += sizeof(Block);
  }
  for (; at <= last; ++at) {
    if (holds(at)) return at;
  }
  return m_size;
}

Buffer::Buffer(std::uint64_t size) : m_size(size) {
  if (size > std::numeric_limits<std::ptrdiff_t>::max())
    throw Error(fmt::format("{} bytes do not fit in memory", size));
  m_data.reset(static_cast<std::uint8_t*>(std::malloc(size == 0 ? 1 : static_cast<std::size_t>(size))));
  if (!m_data) throw Error(fmt::format("not enough memory for {} bytes", size));
}

void Buffer::Free::operator()(std::uint8_t* data) const { std::free(data); }

}  // namespace wheelsmith
