#include "zip/writer.h"

// Writes reproducible ZIP archives: equal contents give equal bytes.
//
// Archives of equal files differ because of the clock (timestamps), the umask (modes), the order of a folder listing,
// the writer's name and version in each header, streaming (sizes after the data in a descriptor, and ZIP64 extra fields
// just in case), and the compressor. All of these are fixed here. The compressor is libdeflate at a fixed level, whose
// output depends on its input alone; the version that is linked in is part of the program.
//
// Sizes are known before a header is written, so ZIP64 is exact: a local header has the extra if one of its two sizes
// is 0xffffffff or more, and then holds both there; a directory entry widens just the fields that need it; the ZIP64
// end record is there if the count, the directory's size or its offset need it. A value equal to the mark itself
// (0xffffffff, 0xffff) needs it too. PyPI rejects wheels with anything else.

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "base/zip_epoch.h"
#include "zip/compressor.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::uint16_t k_version = 20;        // deflate
constexpr std::uint16_t k_version_zip64 = 45;  // the first that knows ZIP64
constexpr std::uint16_t k_unix = 3 << 8;
constexpr std::uint16_t k_zip64_extra_id = 1;
constexpr std::uint32_t k_regular_file = 0100000;
constexpr std::uint64_t k_longest_name = 0xffff;

struct DosTime {
  std::uint16_t time = 0;
  std::uint16_t date = 0;
};

// Years from 1980 to 2107 in seven bits, time in steps of two seconds, here always UTC.
DosTime dos_time(std::int64_t seconds) {
  constexpr std::int64_t k_last = 4'354'819'198;  // 2107-12-31 23:59:58
  seconds = std::clamp(seconds, k_zip_epoch, k_last);
  auto days = static_cast<unsigned>((seconds - k_zip_epoch) / 86400);
  const auto of_day = static_cast<unsigned>((seconds - k_zip_epoch) % 86400);
  const auto is_leap = [](unsigned year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; };
  unsigned year = 1980;
  for (; days >= (is_leap(year) ? 366U : 365U); ++year) days -= is_leap(year) ? 366U : 365U;
  unsigned month = 1;
  const auto length = [&] {
    constexpr unsigned k_lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29U : k_lengths[month - 1];
  };
  for (; days >= length(); ++month) days -= length();
  DosTime result;
  result.date = static_cast<std::uint16_t>(((year - 1980) << 9) | (month << 5) | (days + 1));
  result.time = static_cast<std::uint16_t>((of_day / 3600) << 11 | ((of_day / 60 % 60) << 5) | (of_day % 60 / 2));
  return result;
}

template <class T>
void append(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) == 1);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

bool needs_zip64(std::uint64_t value) { return value >= k_in_zip64; }
std::uint32_t narrow(std::uint64_t value) {
  return needs_zip64(value) ? k_in_zip64 : static_cast<std::uint32_t>(value);
}

// One extra field of those values.
std::string zip64_extra(const std::vector<std::uint64_t>& values) {
  if (values.empty()) return {};
  std::string extra;
  append(extra, le16(k_zip64_extra_id));
  append(extra, le16(static_cast<std::uint16_t>(values.size() * 8)));
  for (const std::uint64_t value : values) append(extra, le64(value));
  return extra;
}

std::uint16_t flags_for(std::string_view name) {
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return ascii ? 0 : k_flag_utf8;
}

}  // namespace

Writer::Writer(Sink& sink, const WriterOptions& options) : m_sink(sink), m_options(options) {
  const DosTime stamp = dos_time(options.time);
  m_time = stamp.time;
  m_date = stamp.date;
}

Writer::Packed Writer::pack(Blob contents, int level, Packing packing) {
  Packed member;
  const Bytes bytes = contents.bytes;
  member.size = bytes.size();
  member.crc32 = libdeflate_crc32(0, bytes.data(), bytes.size());
  if (packing == Packing::smaller && bytes.size() > 1) {
    const Compressor compressor = compressor_of(level);
    // With room for one byte less than the contents, a stream that is no smaller does not fit.
    auto buffer = std::make_shared<Buffer>(bytes.size() - 1);
    const std::size_t size =
        libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(), buffer->data(), bytes.size() - 1);
    if (size != 0) {
      member.method = Method::deflated;
      const Bytes data = buffer->bytes().slice(0, size);
      member.data = {std::move(buffer), data};
      return member;
    }
  }
  member.data = std::move(contents);
  return member;
}

void Writer::add(const std::string& name, Bytes contents, std::uint32_t mode, Packing packing) {
  claim(name);
  write(name, mode, pack({nullptr, contents}, m_options.level, packing));
}

void Writer::add_raw(const Archive& archive, const Entry& entry, const std::string& name, std::uint32_t mode) {
  const bool is_stored = entry.method == static_cast<std::uint16_t>(Method::stored);
  if (entry.is_encrypted()) throw Error("is encrypted and cannot be copied").in(printable(entry.name));
  if (!is_stored && entry.method != static_cast<std::uint16_t>(Method::deflated)) {
    throw Error(fmt::format("uses compression method {}; only stored and deflated are supported", entry.method))
        .in(printable(entry.name));
  }
  if (is_stored ? entry.size != entry.packed_size : !can_inflate_to(entry.packed_size, entry.size)) {
    throw Error(fmt::format("claims {} bytes from {}, which is impossible", entry.size, entry.packed_size))
        .in(printable(entry.name));
  }
  Packed member;
  try {
    member.data.bytes = archive.packed(entry);
  } catch (const Error& error) {
    throw error.in(printable(entry.name));
  }
  member.method = static_cast<Method>(entry.method);
  member.crc32 = entry.crc32;
  member.size = entry.size;
  claim(name);
  write(name, mode, member);
}

void Writer::claim(const std::string& name) {
  const std::string shown = printable(std::string_view(name).substr(0, 200));
  if (name.empty()) throw Error("a member of an archive must have a name");
  if (name.size() > k_longest_name) throw Error(fmt::format("{}… is too long for a member's name", shown));
  if (!is_valid_utf8(name)) throw Error(fmt::format("{} is not a valid member name: invalid UTF-8", shown));
  if (!m_names.insert(name).second) throw Error(fmt::format("{} would be in the archive twice", shown));
}

void Writer::put(Bytes bytes) {
  m_sink.write(bytes);
  m_offset += bytes.size();
}

std::string Writer::local_header(const std::string& name, const Packed& member, std::uint64_t packed_size) const {
  const bool wide = needs_zip64(member.size) || needs_zip64(packed_size);
  const std::string extra = wide ? zip64_extra({member.size, packed_size}) : std::string();
  LocalHeader header{};
  header.signature = k_local_signature;
  header.needed = wide ? k_version_zip64 : k_version;
  header.flags = flags_for(name);
  header.method = static_cast<std::uint16_t>(member.method);
  header.time = m_time;
  header.date = m_date;
  header.crc32 = member.crc32;
  header.packed_size = wide ? k_in_zip64 : narrow(packed_size);
  header.size = wide ? k_in_zip64 : narrow(member.size);
  header.name_size = static_cast<std::uint16_t>(name.size());
  header.extra_size = static_cast<std::uint16_t>(extra.size());
  std::string bytes;
  append(bytes, header);
  return bytes + name + extra;
}

void Writer::write(const std::string& name, std::uint32_t mode, const Packed& member) {
  const std::uint64_t offset = m_offset;
  const std::uint64_t packed_size = member.data.bytes.size();
  put(Bytes(local_header(name, member, packed_size)));
  if (packed_size != 0) put(member.data.bytes);
  add_to_directory(name, mode, member, packed_size, offset);
}

void Writer::add_to_directory(const std::string& name, std::uint32_t mode, const Packed& member,
                              std::uint64_t packed_size, std::uint64_t offset) {
  std::vector<std::uint64_t> wide;
  for (const std::uint64_t value : {member.size, packed_size, offset}) {
    if (needs_zip64(value)) wide.push_back(value);
  }
  const std::string extra = zip64_extra(wide);
  const std::uint16_t version = wide.empty() ? k_version : k_version_zip64;
  DirectoryHeader header{};
  header.signature = k_directory_signature;
  header.made_by = static_cast<std::uint16_t>(k_unix | version);
  header.needed = version;
  header.flags = flags_for(name);
  header.method = static_cast<std::uint16_t>(member.method);
  header.time = m_time;
  header.date = m_date;
  header.crc32 = member.crc32;
  header.packed_size = narrow(packed_size);
  header.size = narrow(member.size);
  header.name_size = static_cast<std::uint16_t>(name.size());
  header.extra_size = static_cast<std::uint16_t>(extra.size());
  header.external_attributes = (k_regular_file | (mode & 0777)) << 16;
  header.header_offset = narrow(offset);
  append(m_directory, header);
  m_directory += name;
  m_directory += extra;
  ++m_count;
}

std::uint64_t Writer::finish() {
  const std::uint64_t offset = m_offset;
  const std::uint64_t size = m_directory.size();
  put(Bytes(m_directory));
  std::string bytes;
  if (m_count >= k_count_in_zip64 || needs_zip64(size) || needs_zip64(offset)) {
    EndRecord64 record{};
    record.signature = k_record64_signature;
    record.record_size = sizeof record - 12;
    record.made_by = static_cast<std::uint16_t>(k_unix | k_version_zip64);
    record.needed = k_version_zip64;
    record.disk_count = m_count;
    record.count = m_count;
    record.directory_size = size;
    record.directory_offset = offset;
    append(bytes, record);
    Locator64 locator{};
    locator.signature = k_locator64_signature;
    locator.record_offset = m_offset;
    locator.disks = 1;
    append(bytes, locator);
  }
  EndRecord end{};
  end.signature = k_end_signature;
  end.count = static_cast<std::uint16_t>(std::min<std::uint64_t>(m_count, k_count_in_zip64));
  end.disk_count = end.count;
  end.directory_size = narrow(size);
  end.directory_offset = narrow(offset);
  append(bytes, end);
  put(Bytes(bytes));
  return m_offset;
}

}  // namespace wheelsmith::zip
