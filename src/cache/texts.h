#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

// Lists of texts as bytes: the format of cache entries and broker messages. A text may contain any bytes.

namespace wheelsmith::cache {

class TextWriter {
 public:
  TextWriter& add(std::string_view text);
  TextWriter& add(const std::vector<std::string>& list);
  TextWriter& add_number(std::uint64_t number);
  [[nodiscard]] std::string take() { return std::move(m_bytes); }

 private:
  std::string m_bytes;
};

// Throws Error for truncated bytes, and for lists that cannot fit in them.
class TextReader {
 public:
  explicit TextReader(std::string_view bytes) : m_cursor(Bytes(bytes)) {}
  std::string text();
  std::vector<std::string> list();
  std::uint64_t number();
  // A number that earlier versions did not write, at the end; then 0. At most 2^40.
  std::uint64_t last_number();
  [[nodiscard]] bool done() const { return m_cursor.done(); }

 private:
  Cursor m_cursor;
};

}  // namespace wheelsmith::cache
