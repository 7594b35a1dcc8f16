#include "rocm/devel_tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "archive/archive.h"
#include "archive/tar_header.h"
#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::rocm {

namespace {

using archive::Header;
using archive::k_block;

constexpr std::uint64_t k_largest_octal = (1ULL << 33) - 1;  // eleven digits
constexpr char k_file = '0', k_link = '2', k_records = 'x';

template <std::size_t Size>
void put(char (&field)[Size], std::string_view text) {
  std::memcpy(field, text.data(), std::min(Size, text.size()));
}

std::uint64_t padded(std::uint64_t size) { return (size + k_block - 1) / k_block * k_block; }

std::string block_of(const std::string& name, const std::string& target, std::uint64_t size, char type, unsigned mode) {
  Header block;
  std::memset(&block, 0, sizeof block);
  put(block.name, name);
  put(block.mode, fmt::format("{:07o}", mode));
  put(block.uid, "0000000");
  put(block.gid, "0000000");
  put(block.size, fmt::format("{:011o}", std::min(size, k_largest_octal)));
  put(block.mtime, "00000000000");
  block.typeflag = type;
  put(block.link_name, target);
  put(block.magic, std::string_view("ustar\0", 6));
  put(block.version, "00");
  put(block.checksum, "        ");
  unsigned sum = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&block);
  for (std::size_t i = 0; i < sizeof block; ++i) sum += bytes[i];
  put(block.checksum, std::string_view(fmt::format("{:06o}", sum).append("\0 ", 2)));
  return {reinterpret_cast<const char*>(&block), sizeof block};
}

// "27 path=…\n": the length counts itself.
std::string record_of(std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  std::size_t length = rest + 1;
  while (fmt::formatted_size("{}", length) + rest != length) length = rest + fmt::formatted_size("{}", length);
  return fmt::format("{} {}={}\n", length, key, value);
}

std::string headers_of(const std::string& name, const DevelItem& item) {
  if (archive::plain_name(name) != name) throw Error(printable(name) + " is not a valid member name");
  const bool link = !item.link_target.empty();
  const std::uint64_t size = link ? 0 : item.content.size();
  std::string records;
  if (name.size() > sizeof(Header::name)) records += record_of("path", name);
  if (item.link_target.size() > sizeof(Header::link_name)) records += record_of("linkpath", item.link_target);
  if (size > k_largest_octal) records += record_of("size", std::to_string(size));
  std::string headers;
  if (!records.empty()) {
    headers = block_of("pax", "", records.size(), k_records, 0644) + records;
    headers.resize(padded(headers.size()), '\0');
  }
  const unsigned mode = link ? 0777 : item.executable ? 0755 : 0644;
  return headers + block_of(name, item.link_target, size, link ? k_link : k_file, mode);
}

}  // namespace

DevelTar::DevelTar(const std::vector<DevelItem>& items, const std::string& folder) {
  for (const DevelItem& item : items) {
    Part part{m_size, headers_of(folder + "/" + item.path, item), nullptr};
    m_size += part.headers.size();
    if (item.link_target.empty()) {
      part.content = &item.content;
      m_size += padded(item.content.size());
    }
    m_parts.push_back(std::move(part));
  }
  m_parts.push_back({m_size, std::string(2 * k_block, '\0'), nullptr});
  m_size += 2 * k_block;
}

Blob DevelTar::piece(std::uint64_t offset, std::uint64_t size) const {
  auto buffer = std::make_shared<Buffer>(size);
  auto part = std::upper_bound(m_parts.begin(), m_parts.end(), offset,
                               [](std::uint64_t wanted, const Part& one) { return wanted < one.offset; });
  --part;  // the first one begins at 0
  for (std::uint64_t at = offset; at < offset + size; ++part) {
    const std::uint64_t next = part + 1 == m_parts.end() ? m_size : (part + 1)->offset;
    const std::uint64_t contents_at = part->offset + part->headers.size();
    const std::uint64_t contents_end = contents_at + (part->content != nullptr ? part->content->size() : 0);
    while (at < std::min(next, offset + size)) {
      std::uint8_t* to = buffer->data() + (at - offset);
      const std::uint64_t left = offset + size - at;
      if (at < contents_at) {
        const std::uint64_t count = std::min(left, contents_at - at);
        std::memcpy(to, part->headers.data() + (at - part->offset), count);
        at += count;
      } else if (at < contents_end) {
        const std::uint64_t count = std::min(left, contents_end - at);
        const Blob blob = part->content->piece(at - contents_at, count);
        std::memcpy(to, blob.bytes.data(), count);
        at += count;
      } else {
        const std::uint64_t count = std::min(left, next - at);
        std::memset(to, 0, count);
        at += count;
      }
    }
  }
  const Bytes bytes = buffer->bytes();
  return {std::move(buffer), bytes};
}

}  // namespace wheelsmith::rocm
