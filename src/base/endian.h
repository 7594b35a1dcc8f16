#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>

// Integers as stored in files: of fixed byte order and without alignment. A format is then a plain struct of these,
// copied out of the bytes at any offset on any machine:
//
//   struct Wrapper { le32 magic; le32 version; le64 data; le64 reserved; };
//   static_assert(sizeof(Wrapper) == 24);
//   const auto wrapper = bytes.get<Wrapper>(offset);

namespace wheelsmith {

enum class Endian : std::uint8_t { little, big };

template <std::unsigned_integral T>
constexpr T swap_bytes(T value) {
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
}

template <std::unsigned_integral T, Endian Order>
class FileInteger {
 public:
  FileInteger() = default;
  FileInteger(T value) {  // NOLINT(google-explicit-constructor): it represents its value
    value = in_file_order(value);
    std::memcpy(m_bytes, &value, sizeof value);
  }
  operator T() const {  // NOLINT(google-explicit-constructor)
    T value;
    std::memcpy(&value, m_bytes, sizeof value);
    return in_file_order(value);
  }

 private:
  static constexpr T in_file_order(T value) {
    const bool same = (Order == Endian::little) == (std::endian::native == std::endian::little);
    return same ? value : swap_bytes(value);
  }
  std::uint8_t m_bytes[sizeof(T)];
};

using le16 = FileInteger<std::uint16_t, Endian::little>;
using le32 = FileInteger<std::uint32_t, Endian::little>;
using le64 = FileInteger<std::uint64_t, Endian::little>;
using be16 = FileInteger<std::uint16_t, Endian::big>;
using be32 = FileInteger<std::uint32_t, Endian::big>;
using be64 = FileInteger<std::uint64_t, Endian::big>;

}  // namespace wheelsmith
