#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace wheelsmith {

// A view of untrusted bytes. Every access is checked, sums cannot overflow, and an access outside throws an Error that
// names the offset. Parsers read through this class and have no bounds checks of their own.
class Bytes {
 public:
  Bytes() = default;
  Bytes(const void* data, std::uint64_t size) : m_data(static_cast<const std::uint8_t*>(data)), m_size(size) {}
  explicit Bytes(std::string_view text) : Bytes(text.data(), text.size()) {}
  explicit Bytes(std::span<const std::uint8_t> span) : Bytes(span.data(), span.size()) {}

  [[nodiscard]] const std::uint8_t* data() const { return m_data; }
  [[nodiscard]] std::uint64_t size() const { return m_size; }
  [[nodiscard]] bool empty() const { return m_size == 0; }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(m_data), static_cast<std::size_t>(m_size)};
  }

  [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t size) const {
    return offset <= m_size && size <= m_size - offset;
  }

  // The given part; throws if it is out of bounds.
  [[nodiscard]] Bytes slice(std::uint64_t offset, std::uint64_t size) const {
    if (!contains(offset, size)) refuse(offset, size);
    return {m_data + offset, size};
  }
  // Everything from the offset on; throws if the offset is past the end.
  [[nodiscard]] Bytes from(std::uint64_t offset) const { return slice(offset, offset <= m_size ? m_size - offset : 0); }
  // As much of the given part as is in bounds; never throws.
  [[nodiscard]] Bytes clamp(std::uint64_t offset, std::uint64_t size) const {
    if (offset >= m_size) return {};
    return {m_data + offset, size < m_size - offset ? size : m_size - offset};
  }

  // A copy of the struct at the offset: T is made of file integers (base/endian.h) and bytes.
  template <class T>
  [[nodiscard]] T get(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) == 1, "use le32 and friends");
    if (!contains(offset, sizeof(T))) refuse(offset, sizeof(T));
    T value;
    std::memcpy(&value, m_data + offset, sizeof(T));
    return value;
  }
  [[nodiscard]] std::uint8_t u8(std::uint64_t offset) const { return get<std::uint8_t>(offset); }

  // The text from the offset to the next NUL, without it; throws if there is none.
  [[nodiscard]] std::string_view c_string(std::uint64_t offset) const;

  [[nodiscard]] bool starts_with(std::string_view magic) const {
    return magic.size() <= m_size && (magic.empty() || std::memcmp(m_data, magic.data(), magic.size()) == 0);
  }

  // Offset of the next occurrence of the needle at or after `from`, or size() if there is none. The needle has at least
  // two bytes.
  [[nodiscard]] std::uint64_t find(std::string_view needle, std::uint64_t from = 0) const;

 private:
  [[noreturn]] void refuse(std::uint64_t offset, std::uint64_t size) const;

  const std::uint8_t* m_data = nullptr;
  std::uint64_t m_size = 0;
};

// Reads values sequentially.
class Cursor {
 public:
  explicit Cursor(Bytes bytes, std::uint64_t at = 0) : m_bytes(bytes), m_at(at) {}

  [[nodiscard]] std::uint64_t at() const { return m_at; }
  [[nodiscard]] std::uint64_t left() const { return m_at < m_bytes.size() ? m_bytes.size() - m_at : 0; }
  [[nodiscard]] bool done() const { return left() == 0; }

  template <class T>
  T take() {
    const T value = m_bytes.get<T>(m_at);
    m_at += sizeof(T);
    return value;
  }
  Bytes take_bytes(std::uint64_t size) {
    const Bytes part = m_bytes.slice(m_at, size);
    m_at += size;
    return part;
  }
  void skip(std::uint64_t size) { (void)take_bytes(size); }

 private:
  Bytes m_bytes;
  std::uint64_t m_at;
};

// Bytes with their owner: a mapping, a buffer.
struct Blob {
  std::shared_ptr<const void> owner;
  Bytes bytes;
};

// Uninitialised memory, the target of decompression. Move-only.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::uint64_t size);

  [[nodiscard]] std::uint8_t* data() { return m_data.get(); }
  [[nodiscard]] std::uint64_t size() const { return m_size; }
  [[nodiscard]] Bytes bytes() const { return {m_data.get(), m_size}; }

 private:
  struct Free {
    void operator()(std::uint8_t* data) const;
  };
  std::unique_ptr<std::uint8_t, Free> m_data;
  std::uint64_t m_size = 0;
};

}  // namespace wheelsmith
