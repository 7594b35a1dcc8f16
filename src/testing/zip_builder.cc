#include "testing/zip_builder.h"

#include <libdeflate.h>

#include <memory>
#include <stdexcept>

namespace wheelsmith::testing {

std::string zip_number(std::uint64_t value, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

std::string zip_extra(std::uint16_t id, const std::string& bytes) {
  return zip_number(id, 2) + zip_number(bytes.size(), 2) + bytes;
}

std::string deflate(const std::string& data) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(6), libdeflate_free_compressor);
  std::string out(libdeflate_deflate_compress_bound(compressor.get(), data.size()), '\0');
  const std::size_t size =
      libdeflate_deflate_compress(compressor.get(), data.data(), data.size(), out.data(), out.size());
  if (size == 0) throw std::logic_error("libdeflate packed nothing");
  out.resize(size);
  return out;
}

namespace {

std::string u16(std::uint64_t value) { return zip_number(value, 2); }
std::string u32(std::uint64_t value) { return zip_number(value, 4); }
std::string u64(std::uint64_t value) { return zip_number(value, 8); }

constexpr std::uint32_t k_in_zip64 = 0xffffffff;

// A member with all that is true about it.
struct Truth {
  std::string packed;
  std::uint32_t crc32 = 0;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint64_t offset = 0;
};

Truth truth_of(const ZipMember& member) {
  Truth truth;
  truth.packed = member.packed ? *member.packed : member.deflated ? deflate(member.data) : member.data;
  truth.crc32 = libdeflate_crc32(0, member.data.data(), member.data.size());
  truth.method = member.deflated ? 8 : 0;
  truth.flags = static_cast<std::uint16_t>(member.flags | (member.descriptor == ZipDescriptor::none ? 0 : 8));
  return truth;
}

// The fields that both headers have: flags to the lengths of name and extra.
std::string common_fields(const ZipLies& lies, const Truth& truth, std::uint32_t crc32, std::uint64_t packed_size,
                          std::uint64_t size, const std::string& name, const std::string& extra) {
  constexpr std::uint64_t k_date = 0x0021;  // 1 January 1980
  return u16(lies.flags.value_or(truth.flags)) + u16(lies.method.value_or(truth.method)) + u16(0) + u16(k_date) +
         u32(lies.crc32.value_or(crc32)) + u32(lies.packed_size ? *lies.packed_size : packed_size) +
         u32(lies.size ? *lies.size : size) + u16(name.size()) + u16(extra.size());
}

std::string local_header(const ZipMember& member, const Truth& truth) {
  const bool streamed = member.descriptor != ZipDescriptor::none;
  const std::uint64_t packed_size = streamed ? 0 : truth.packed.size();
  const std::uint64_t size = streamed ? 0 : member.data.size();
  const std::string name = member.local.name.value_or(member.name);
  const std::string extra =
      member.local.extra.value_or(member.zip64 ? zip_extra(1, u64(size) + u64(packed_size)) : std::string());
  return "PK\3\4" + u16(20) +
         common_fields(member.local, truth, streamed ? 0 : truth.crc32, member.zip64 ? k_in_zip64 : packed_size,
                       member.zip64 ? k_in_zip64 : size, name, extra) +
         name + extra;
}

std::string directory_header(const ZipMember& member, const Truth& truth) {
  const std::string name = member.directory.name.value_or(member.name);
  std::string wide;
  if (member.zip64) wide += u64(member.data.size()) + u64(truth.packed.size());
  if (member.zip64_offset) wide += u64(truth.offset);
  const std::string extra = member.directory.extra.value_or(wide.empty() ? wide : zip_extra(1, wide));
  const std::uint64_t offset = member.zip64_offset ? k_in_zip64 : truth.offset;
  return "PK\1\2" + u16(member.directory.made_by.value_or(3 << 8 | 20)) + u16(20) +
         common_fields(member.directory, truth, truth.crc32, member.zip64 ? k_in_zip64 : truth.packed.size(),
                       member.zip64 ? k_in_zip64 : member.data.size(), name, extra) +
         u16(0) + u16(0) + u16(0) + u32(std::uint64_t{member.mode} << 16) +
         u32(member.directory.offset ? *member.directory.offset : offset) + name + extra;
}

std::string descriptor(const ZipMember& member, const Truth& truth) {
  const bool wide =
      member.descriptor == ZipDescriptor::wide_bare || member.descriptor == ZipDescriptor::wide_with_signature;
  const bool bare = member.descriptor == ZipDescriptor::bare || member.descriptor == ZipDescriptor::wide_bare;
  if (member.descriptor_bytes) return *member.descriptor_bytes;
  if (member.descriptor == ZipDescriptor::none) return {};
  const std::size_t width = wide ? 8 : 4;
  return (bare ? "" : "PK\7\10") + u32(truth.crc32) + zip_number(truth.packed.size(), width) +
         zip_number(member.data.size(), width);
}

std::string end_records(const ZipEnds& ends, std::uint64_t count, std::uint64_t offset, std::uint64_t size,
                        std::uint64_t here) {
  count = ends.count.value_or(count);
  offset = ends.directory_offset.value_or(offset);
  size = ends.directory_size.value_or(size);
  std::string out;
  if (ends.zip64) {
    out += "PK\6\6" + u64(44 + ends.record64_additions.size()) + u16(45) + u16(45) + u32(0) + u32(0) + u64(count) +
           u64(count) + u64(size) + u64(offset) + ends.record64_additions;
    out += "PK\6\7" + u32(0) + u64(ends.record64_offset.value_or(here)) + u32(ends.disks.value_or(1));
    count = 0xffff;
    offset = size = k_in_zip64;
  }
  return out + "PK\5\6" + u16(ends.disk.value_or(0)) + u16(ends.disk.value_or(0)) + u16(count) + u16(count) +
         u32(size) + u32(offset) + u16(ends.comment_size ? *ends.comment_size : ends.comment.size()) + ends.comment +
         ends.trailing;
}

}  // namespace

ZipBuilder& ZipBuilder::add(ZipMember member) {
  m_members.push_back(std::move(member));
  return *this;
}

ZipBuilder& ZipBuilder::add(std::string name, std::string data) {
  ZipMember member;
  member.name = std::move(name);
  member.data = std::move(data);
  return add(std::move(member));
}

ZipBuilder& ZipBuilder::ends(ZipEnds ends) {
  m_ends = std::move(ends);
  return *this;
}

std::string ZipBuilder::build() const {
  std::string out;
  std::string directory;
  std::vector<std::uint64_t> offsets;
  std::uint64_t count = 0;
  for (const ZipMember& member : m_members) {
    Truth truth = truth_of(member);
    truth.offset = member.shares ? offsets.at(*member.shares) : out.size();
    offsets.push_back(truth.offset);
    if (!member.shares) out += local_header(member, truth) + truth.packed + descriptor(member, truth) + member.junk;
    if (member.unlisted) continue;
    directory += directory_header(member, truth);
    ++count;
  }
  const std::uint64_t offset = out.size();
  out += directory + m_ends.before_end;
  out += end_records(m_ends, count, offset, directory.size(), out.size());
  return m_ends.prepended + out;
}

}  // namespace wheelsmith::testing
