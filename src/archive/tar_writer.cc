#include "archive/tar_writer.h"

#include <fmt/format.h>

#include <cstring>

#include "archive/archive.h"
#include "archive/tar_header.h"
#include "base/error.h"

namespace wheelsmith::archive {

namespace {

constexpr std::uint64_t k_largest_octal = (1ull << 33) - 1;  // eleven digits

template <std::size_t Size>
void put(char (&field)[Size], std::string_view text) {
  std::memcpy(field, text.data(), std::min(Size, text.size()));
}

// "27 path=…\n": the length counts itself.
std::string pax_record(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (fmt::formatted_size("{}", length) + rest != length) length = rest + fmt::formatted_size("{}", length);
  return fmt::format("{} {}={}\n", length, key, value);
}

}  // namespace

void TarWriter::header(const std::string& name, std::uint64_t size, char type) {
  Header block;
  std::memset(&block, 0, sizeof block);
  put(block.name, name);
  put(block.mode, "0000644");
  put(block.uid, "0000000");
  put(block.gid, "0000000");
  put(block.size, fmt::format("{:011o}", std::min(size, k_largest_octal)));
  put(block.mtime, "00000000000");
  block.typeflag = type;
  put(block.magic, std::string_view("ustar\0", 6));
  put(block.version, "00");
  put(block.checksum, "        ");
  unsigned sum = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&block);
  for (std::size_t i = 0; i < sizeof block; ++i) sum += bytes[i];
  put(block.checksum, std::string_view(fmt::format("{:06o}", sum).append("\0 ", 2)));
  m_sink.write(Bytes(&block, sizeof block));
}

void TarWriter::begin(const std::string& name, std::uint64_t size) {
  if (name.empty() || plain_name(name) != name) throw Error(fmt::format("\"{}\" is not a valid member name", name));
  if (m_left > 0) throw Error("tar: a file starts before the previous one is complete");
  std::string records;
  if (name.size() > sizeof(Header::name)) records += pax_record("path", name);
  if (size > k_largest_octal) records += pax_record("size", std::to_string(size));
  if (!records.empty()) {
    header("pax", records.size(), 'x');
    m_left = m_size = records.size();
    write(Bytes(records));
  }
  header(name, size, '0');
  m_left = m_size = size;
}

void TarWriter::write(Bytes bytes) {
  if (bytes.size() > m_left) throw Error("tar: a file is longer than announced");
  m_sink.write(bytes);
  m_left -= bytes.size();
  if (m_left == 0) pad();
}

void TarWriter::pad() {
  static constexpr char k_zeros[k_block] = {};
  if (const std::uint64_t over = m_size % k_block; over > 0) m_sink.write(Bytes(k_zeros, k_block - over));
  m_size = 0;
}

void TarWriter::add(const std::string& name, std::string_view content) {
  begin(name, content.size());
  if (!content.empty()) write(Bytes(content));
}

void TarWriter::finish() {
  if (m_left > 0) throw Error("tar: the last file is not complete");
  static constexpr char k_end[2 * k_block] = {};
  m_sink.write(Bytes(k_end, sizeof k_end));
}

}  // namespace wheelsmith::archive
