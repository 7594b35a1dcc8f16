#include "base/bytes.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "base/error.h"

namespace wheelsmith {

void Bytes::refuse(std::uint64_t offset, std::uint64_t size) const {
  throw Error(fmt::format("{} bytes at offset {:#x} lie outside the {} bytes that are there", size, offset, m_size));
}

std::string_view Bytes::c_string(std::uint64_t offset) const {
  const Bytes rest = from(offset);
  const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
  if (end == nullptr) throw Error(fmt::format("the text at offset {:#x} has no end", offset));
  return {reinterpret_cast<const char*>(rest.data()),
          static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - rest.data())};
}

// Compares 32 places at once with the first two bytes of the needle (the compiler turns the vectors into what the
// machine has); glibc's memmem is three to five times slower on such data, and half a gigabyte of device code is
// searched for every big library.
std::uint64_t Bytes::find(std::string_view needle, std::uint64_t from) const {
  using Block = std::uint8_t __attribute__((vector_size(32)));
  if (needle.size() < 2 || needle.size() > m_size) return m_size;
  const std::uint64_t last = m_size - needle.size();  // the last place where it could start
  const auto holds = [&](std::uint64_t at) { return std::memcmp(m_data + at, needle.data(), needle.size()) == 0; };
  const auto first = static_cast<std::uint8_t>(needle[0]);
  const auto second = static_cast<std::uint8_t>(needle[1]);
  std::uint64_t at = from;
  while (at <= last && m_size - at > sizeof(Block)) {
    Block here, next;
    std::memcpy(&here, m_data + at, sizeof here);
    std::memcpy(&next, m_data + at + 1, sizeof next);
    const Block hits = reinterpret_cast<Block>((here == first) & (next == second));
    std::uint64_t parts[sizeof(Block) / 8];
    std::memcpy(parts, &hits, sizeof hits);
    if ((parts[0] | parts[1] | parts[2] | parts[3]) != 0) {
      for (std::uint64_t i = at; i < at + sizeof(Block) && i <= last; ++i) {
        if (holds(i)) return i;
      }
    }
    at += sizeof(Block);
  }
  for (; at <= last; ++at) {
    if (holds(at)) return at;
  }
  return m_size;
}

Blob Blob::copy_of(std::string_view text) {
  auto owner = std::make_shared<const std::string>(text);
  const Bytes bytes(*owner);
  return {std::move(owner), bytes};
}

Buffer::Buffer(std::uint64_t size) : m_size(size) {
  if (size > std::numeric_limits<std::ptrdiff_t>::max())
    throw Error(fmt::format("{} bytes do not fit in memory", size));
  m_data.reset(static_cast<std::uint8_t*>(std::malloc(size == 0 ? 1 : static_cast<std::size_t>(size))));
  if (!m_data) throw Error(fmt::format("not enough memory for {} bytes", size));
}

void Buffer::Free::operator()(std::uint8_t* data) const { std::free(data); }

}  // namespace wheelsmith
