#include "cache/texts.h"

#include <algorithm>

#include "base/endian.h"
#include "base/error.h"

namespace wheelsmith::cache {

TextWriter& TextWriter::add_number(std::uint64_t number) {
  const le64 value(number);
  m_bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

TextWriter& TextWriter::add(std::string_view text) {
  add_number(text.size());
  m_bytes += text;
  return *this;
}

TextWriter& TextWriter::add(const std::vector<std::string>& list) {
  add_number(list.size());
  for (const std::string& text : list) add(text);
  return *this;
}

std::uint64_t TextReader::number() { return m_cursor.take<le64>(); }

std::uint64_t TextReader::last_number() {
  return done() ? 0 : std::min<std::uint64_t>(number(), std::uint64_t{1} << 40);
}

std::string TextReader::text() { return std::string(m_cursor.take_bytes(number()).text()); }

std::vector<std::string> TextReader::list() {
  const std::uint64_t count = number();
  // Each has at least its size.
  if (count > m_cursor.left() / sizeof(le64)) throw Error("a list in a cache entry is longer than the entry");
  std::vector<std::string> result;
  result.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) result.push_back(text());
  return result;
}

}  // namespace wheelsmith::cache
