#include "testing/fatbin_builder.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/endian.h"

namespace wheelsmith::testing {
namespace {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void pad(std::string& out, std::uint64_t align) { out.resize((out.size() + align - 1) / align * align); }

constexpr std::size_t k_zstd_block = 128 * 1024;

std::string frame_head(std::uint64_t size) {
  std::string out = "\x28\xB5\x2F\xFD\xC0";  // content size in 8 bytes, a window descriptor
  out.push_back(0x38);                       // a window of 128 kB
  put(out, le64(size));
  return out;
}

void block_head(std::string& out, bool last, unsigned type, std::size_t size) {
  const auto value = static_cast<std::uint32_t>(size << 3 | type << 1 | (last ? 1U : 0U));
  for (unsigned shift = 0; shift < 24; shift += 8) out.push_back(static_cast<char>(value >> shift & 0xffU));
}

// MessagePack in the forms that its common writers choose.
void put_big_endian(std::string& out, std::uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i) & 0xffU));
}

void put_number(std::string& out, std::uint64_t value) {
  if (value < 0x80) return out.push_back(static_cast<char>(value));
  const unsigned width = value <= 0xff ? 0 : value <= 0xffff ? 1 : value <= 0xffffffff ? 2 : 3;
  out.push_back(static_cast<char>(0xcc + width));
  put_big_endian(out, value, 1U << width);
}

void put_text(std::string& out, std::string_view text) {
  if (text.size() < 32) {
    out.push_back(static_cast<char>(0xa0 + text.size()));
  } else if (text.size() < 256) {
    out.push_back(static_cast<char>(0xd9));
    put_big_endian(out, text.size(), 1);
  } else {
    out.push_back(static_cast<char>(0xda));
    put_big_endian(out, text.size(), 2);
  }
  out += text;
}

void put_map(std::string& out, std::size_t pairs) {
  if (pairs < 16) return out.push_back(static_cast<char>(0x80 + pairs));
  out.push_back(static_cast<char>(0xde));
  put_big_endian(out, pairs, 2);
}

void put_array(std::string& out, std::size_t values) {
  if (values < 16) return out.push_back(static_cast<char>(0x90 + values));
  out.push_back(static_cast<char>(0xdc));
  put_big_endian(out, values, 2);
}

}  // namespace

std::string zstd_frame(std::string_view contents) {
  std::string out = frame_head(contents.size());
  do {
    const std::string_view block = contents.substr(0, k_zstd_block);
    contents.remove_prefix(block.size());
    block_head(out, contents.empty(), 0, block.size());
    out += block;
  } while (!contents.empty());
  return out;
}

std::string zstd_bomb(std::uint64_t size, char byte) {
  std::string out = frame_head(size);
  while (size != 0) {
    const std::size_t block = static_cast<std::size_t>(std::min<std::uint64_t>(size, k_zstd_block));
    size -= block;
    block_head(out, size == 0, 1, block);
    out.push_back(byte);
  }
  return out;
}

std::string zlib_stream(std::string_view contents) {
  libdeflate_compressor* compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_zlib_compress_bound(compressor, contents.size()), '\0');
  out.resize(libdeflate_zlib_compress(compressor, contents.data(), contents.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

FatbinBuilder& FatbinBuilder::sass(std::uint32_t arch, std::size_t size) {
  Entry entry;
  entry.arch = arch;
  entry.payload = std::string(size, 'S');
  return this->entry(std::move(entry));
}

FatbinBuilder& FatbinBuilder::packed(std::uint16_t kind, std::uint32_t arch, std::string_view contents) {
  Entry entry;
  entry.kind = kind;
  entry.arch = arch;
  entry.flags = 0x8011;
  entry.payload = zstd_frame(contents);
  entry.packed_size = static_cast<std::uint32_t>(entry.payload.size());
  entry.unpacked_size = contents.size();
  return this->entry(std::move(entry));
}

std::string FatbinBuilder::build() const {
  std::string body;
  for (const Entry& entry : m_entries) {
    const std::uint64_t padded = (entry.payload.size() + 7) / 8 * 8;
    std::string header;
    put(header, le16(entry.kind));
    put(header, le16(0x0101));
    put(header, le32(entry.header_size));
    put(header, le64(entry.padded_size.value_or(padded)));
    put(header, le32(entry.packed_size));
    put(header, le32(0));
    put(header, le16(8));
    put(header, le16(1));
    put(header, le32(entry.arch));
    put(header, le64(0));
    put(header, le64(entry.flags));
    put(header, le64(0));
    put(header, le64(entry.unpacked_size));
    header.resize(std::max<std::size_t>(header.size(), entry.header_size));
    body += header + entry.payload;
    body.resize(body.size() + padded - entry.payload.size());
  }
  std::string out;
  put(out, le32(0xBA55ED50));
  put(out, le16(1));
  put(out, le16(16));
  put(out, le64(m_claimed_size.value_or(body.size())));
  return out + body;
}

std::string wrapper(std::uint32_t magic, std::uint64_t pointer, std::uint32_t version) {
  std::string out;
  put(out, le32(magic));
  put(out, le32(version));
  put(out, le64(pointer));
  put(out, le64(0));
  return out;
}

HipBundleBuilder& HipBundleBuilder::entry(std::string_view id, std::string_view contents) {
  m_entries.push_back({std::string(id), std::string(contents)});
  return *this;
}

HipBundleBuilder& HipBundleBuilder::object(std::string_view target, std::string_view contents) {
  return entry("hipv4-amdgcn-amd-amdhsa--" + std::string(target), contents);
}

std::string HipBundleBuilder::build() const {
  std::uint64_t table = 32;
  for (const Entry& entry : m_entries) table += 24 + entry.id.size();
  std::string body(static_cast<std::size_t>(table), '\0');
  std::string out = "__CLANG_OFFLOAD_BUNDLE__";
  put(out, le64(m_entries.size()));
  for (const Entry& entry : m_entries) {
    pad(body, m_align);
    put(out, le64(body.size()));
    put(out, le64(entry.contents.size()));
    put(out, le64(entry.id.size()));
    out += entry.id;
    body += entry.contents;
  }
  return out + body.substr(out.size());
}

std::string compressed_bundle(int version, HipBundleBuilder::Method method, std::string_view stream,
                              std::uint64_t unpacked_size) {
  const std::uint64_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
  std::string out = "CCOB";
  put(out, le16(static_cast<std::uint16_t>(version)));
  put(out, le16(static_cast<std::uint16_t>(method)));
  if (version == 2) put(out, le32(static_cast<std::uint32_t>(header + stream.size())));
  if (version == 3) put(out, le64(header + stream.size()));
  if (version < 3) put(out, le32(static_cast<std::uint32_t>(unpacked_size)));
  if (version >= 3) put(out, le64(unpacked_size));
  put(out, le64(0x0123456789abcdef));  // the hash, which no reader checks
  return out.append(stream);
}

std::string HipBundleBuilder::build_compressed(int version, Method method) const {
  const std::string plain = build();
  return compressed_bundle(version, method, method == Method::zstd ? zstd_frame(plain) : zlib_stream(plain),
                           plain.size());
}

KpackBuilder& KpackBuilder::object(std::string_view kernel, std::string_view target, std::string_view contents) {
  m_objects.push_back({std::string(kernel), std::string(target), std::string(contents)});
  return *this;
}

std::string KpackBuilder::build(Scheme scheme) const {
  std::string blobs;
  std::string places;
  put_array(places, m_objects.size());
  if (scheme == Scheme::zstd_per_kernel) put(blobs, le32(static_cast<std::uint32_t>(m_objects.size())));
  for (const Object& object : m_objects) {
    put_map(places, 2);
    put_text(places, "offset");
    put_number(places, 64 + blobs.size());
    put_text(places, "size");
    put_number(places, object.contents.size());
    if (scheme == Scheme::none) {
      blobs += object.contents;
    } else {
      const std::string frame = zstd_frame(object.contents);
      put(blobs, le32(static_cast<std::uint32_t>(frame.size())));
      blobs += frame;
    }
  }
  std::map<std::string, std::vector<std::size_t>> by_kernel;
  for (std::size_t i = 0; i < m_objects.size(); ++i) by_kernel[m_objects[i].kernel].push_back(i);
  std::string toc;
  put_map(toc, by_kernel.size());
  for (const auto& [kernel, indexes] : by_kernel) {
    put_text(toc, kernel);
    put_map(toc, indexes.size());
    for (const std::size_t i : indexes) {
      put_text(toc, m_objects[i].target);
      put_map(toc, 3);
      put_text(toc, "type");
      put_text(toc, "hsaco");
      put_text(toc, "ordinal");
      put_number(toc, i);
      put_text(toc, "original_size");
      put_number(toc, m_objects[i].contents.size());
    }
  }

  std::string out = "KPAK";
  put(out, le32(1));
  put(out, le64(64 + blobs.size()));
  out.resize(64);
  out += blobs;
  put_map(out, scheme == Scheme::none ? 4 : 5);
  put_text(out, "format_version");
  put_number(out, 1);
  put_text(out, "toc");
  out += toc;
  put_text(out, "compression_scheme");
  put_text(out, scheme == Scheme::none ? "none" : "zstd-per-kernel");
  if (scheme == Scheme::none) {
    put_text(out, "blobs");
    out += places;
  } else {
    put_text(out, "zstd_offset");
    put_number(out, 64);
    put_text(out, "zstd_size");
    put_number(out, blobs.size());
  }
  return out;
}

std::string kpack_reference(std::string_view kernel_name, const std::vector<std::string>& search_paths) {
  std::string out;
  put_map(out, 2);
  put_text(out, "kpack_search_paths");
  put_array(out, search_paths.size());
  for (const std::string& path : search_paths) put_text(out, path);
  put_text(out, "kernel_name");
  put_text(out, kernel_name);
  return out;
}

}  // namespace wheelsmith::testing
