#pragma once

// The layout of a ZIP archive (PKWARE's APPNOTE 6.3.10, as far as wheels use it):
//
//   archive     = member* directory [ record64 locator64 ] end
//   member      = LocalHeader name extra data [ descriptor ]
//   directory   = ( DirectoryHeader name extra comment )*
//   extra       = ( id:u16 size:u16 bytes )*
//   descriptor  = [ "PK\7\8" ] crc32:u32 ( packed:u32 size:u32 | packed:u64 size:u64 )      flag bit 3 says it is there
//
// A 32-bit field that holds 0xffffffff has its value in the extra with id 1 (ZIP64). In the directory that extra holds
// only the fields that are 0xffffffff, in the order size, packed size, offset, disk; in a local header it holds both
// sizes always.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/endian.h"

namespace wheelsmith::zip {

inline constexpr std::uint32_t k_local_signature = 0x04034b50;
inline constexpr std::uint32_t k_directory_signature = 0x02014b50;
inline constexpr std::uint32_t k_descriptor_signature = 0x08074b50;
inline constexpr std::uint32_t k_end_signature = 0x06054b50;
inline constexpr std::uint32_t k_record64_signature = 0x06064b50;
inline constexpr std::uint32_t k_locator64_signature = 0x07064b50;
inline constexpr std::string_view k_end_magic = "PK\5\6";

inline constexpr std::uint16_t k_flag_encrypted = 1;
inline constexpr std::uint16_t k_flag_descriptor = 1 << 3;
inline constexpr std::uint16_t k_flag_utf8 = 1 << 11;

inline constexpr std::uint32_t k_in_zip64 = 0xffffffff;
inline constexpr std::uint16_t k_count_in_zip64 = 0xffff;

struct LocalHeader {
  le32 signature;
  le16 needed, flags, method, time, date;
  le32 crc32, packed_size, size;
  le16 name_size, extra_size;
};
static_assert(sizeof(LocalHeader) == 30);

struct DirectoryHeader {
  le32 signature;
  le16 made_by, needed, flags, method, time, date;
  le32 crc32, packed_size, size;
  le16 name_size, extra_size, comment_size, disk, internal_attributes;
  le32 external_attributes, header_offset;
};
static_assert(sizeof(DirectoryHeader) == 46);

struct EndRecord {
  le32 signature;
  le16 disk, directory_disk, disk_count, count;
  le32 directory_size, directory_offset;
  le16 comment_size;
};
static_assert(sizeof(EndRecord) == 22);

struct Locator64 {
  le32 signature, record_disk;
  le64 record_offset;
  le32 disks;
};
static_assert(sizeof(Locator64) == 20);

struct EndRecord64 {
  le32 signature;
  le64 record_size;  // of what follows this field
  le16 made_by, needed;
  le32 disk, directory_disk;
  le64 disk_count, count, directory_size, directory_offset;
};
static_assert(sizeof(EndRecord64) == 56);

// Whether a deflate stream of that length can unpack to this size: a match of 258 bytes takes at least two bits.
constexpr bool can_inflate_to(std::uint64_t packed_size, std::uint64_t size) {
  return size <= 64 || (size - 64) / 1032 + ((size - 64) % 1032 != 0 ? 1 : 0) <= packed_size;
}

// The struct at the offset if it is in bounds and starts with the signature.
template <class T>
std::optional<T> find_at(Bytes file, std::uint64_t offset, std::uint32_t signature) {
  if (!file.contains(offset, sizeof(T))) return {};
  const T value = file.get<T>(offset);
  if (value.signature != signature) return {};
  return value;
}

struct DirectoryRecord {
  DirectoryHeader header;
  Bytes name;
  Bytes extra;
};

// The record at the cursor, which moves past it; throws if there is none.
DirectoryRecord take_directory_record(Cursor& cursor);

// Extra fields that change the meaning of a record.
struct Extras {
  std::optional<Bytes> zip64;         // the first one
  std::optional<Bytes> unicode_path;  // Info-ZIP's other name (id 0x7075)
  unsigned zip64_count = 0;
  bool whole = true;  // no extra field exceeds the list
};
Extras parse_extras(Bytes extra);

// The fields of a header that ZIP64 can widen.
struct WideFields {
  std::uint64_t size = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t header_offset = 0;
  std::uint64_t needed = 0;  // bytes that the ZIP64 extra must hold for the fields that are 0xffffffff
  bool widened = false;      // some field came from the extra
  bool missing = false;      // some field should have, but the extra is absent or too short
};
WideFields widen(const DirectoryHeader& header, const Extras& extras);
// In a local header, both sizes are in the extra as soon as one of them is 0xffffffff.
WideFields widen(const LocalHeader& header, const Extras& extras);

}  // namespace wheelsmith::zip
