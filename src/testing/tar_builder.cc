#include "testing/tar_builder.h"

#include <libdeflate.h>

#include <cstdio>

#include "testing/zip_builder.h"

namespace wheelsmith::testing {

namespace {

constexpr std::size_t k_tar_block = 512;

void put_field(std::string& block, std::size_t at, std::size_t size, const std::string& text) {
  for (std::size_t i = 0; i < size && i < text.size(); ++i) block[at + i] = text[i];
}

std::string octal(std::uint64_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
  return text;
}

std::string header(const TarMember& member) {
  std::string block(k_tar_block, '\0');
  put_field(block, 0, 100, member.name);
  put_field(block, 100, 8, octal(member.mode, 7));
  put_field(block, 108, 8, octal(0, 7));
  put_field(block, 116, 8, octal(0, 7));
  put_field(block, 124, 12, member.size_field.value_or(octal(member.data.size(), 11)));
  put_field(block, 136, 12, octal(static_cast<std::uint64_t>(member.mtime), 11));
  put_field(block, 148, 8, "        ");
  block[156] = member.type;
  put_field(block, 157, 100, member.target);
  put_field(block, 257, 8, member.gnu ? std::string("ustar  \0", 8) : std::string("ustar\00000", 8));
  put_field(block, 345, 155, member.prefix.value_or(""));
  unsigned sum = 0;
  for (const char byte : block) sum += static_cast<unsigned char>(byte);
  put_field(block, 148, 8, member.checksum_field.value_or(octal(sum, 6) + std::string("\0 ", 2)));
  return block;
}

}  // namespace

TarBuilder& TarBuilder::add(const TarMember& member) {
  m_bytes += header(member) + member.data;
  m_bytes.resize((m_bytes.size() + k_tar_block - 1) / k_tar_block * k_tar_block, '\0');
  return *this;
}

TarBuilder& TarBuilder::add(const std::string& name, const std::string& data) {
  TarMember member;
  member.name = name;
  member.data = data;
  return add(member);
}

TarBuilder& TarBuilder::raw(const std::string& bytes) {
  m_bytes += bytes;
  return *this;
}

std::string TarBuilder::build() const { return m_bytes + std::string(2 * k_tar_block, '\0'); }

std::string pax_record(const std::string& key, const std::string& value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (std::to_string(length).size() + rest != length) ++length;
  return std::to_string(length) + ' ' + key + '=' + value + '\n';
}

std::string gzip(const std::string& data) {
  const std::string head("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  return head + deflate(data) + zip_number(libdeflate_crc32(0, data.data(), data.size()), 4) +
         zip_number(data.size() & 0xffffffff, 4);
}

}  // namespace wheelsmith::testing
