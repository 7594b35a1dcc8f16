#pragma once

// The layout of a tar archive (POSIX.1-2017 "pax", and what GNU tar adds):
//
//   archive  = ( header content )* zeros[1024]            all in blocks of 512 bytes, content padded with zeros
//   header   = a block, see Header; the size field says how long the content is
//   typeflag = '0' | NUL | '7'   file          '1'  hard link      '2'  symbolic link     '5'  folder
//              'x'               content is pax records for the next entry; 'g': for all that follow
//              'L' | 'K'         content is the next entry's name or link target (GNU)
//   records  = ( length ' ' key '=' value '\n' )*          length in decimal, counting itself
//
// Numbers are octal digits in text, or, where the first byte's high bit is set, big-endian binary (GNU).

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/bytes.h"

namespace wheelsmith::archive {

inline constexpr std::uint64_t k_block = 512;

struct Header {
  char name[100];
  char mode[8], uid[8], gid[8];
  char size[12], mtime[12];
  char checksum[8];
  char typeflag;
  char link_name[100];
  char magic[6], version[2];
  char user[32], group[32];
  char device_major[8], device_minor[8];
  char prefix[155];
  char unused[12];
};
static_assert(sizeof(Header) == k_block);

// A field up to its NUL, or all of it.
template <std::size_t Size>
std::string_view field_text(const char (&field)[Size]) {
  const std::string_view whole(field, Size);
  return whole.substr(0, whole.find('\0'));
}

// The field's value; nothing if it is not a number or exceeds 63 bits. Negative values are possible in binary.
std::optional<std::int64_t> field_number(std::string_view field);

bool checksum_holds(const Header& header);
bool is_zero_block(const Header& header);
// The name with the ustar prefix in front.
std::string header_name(const Header& header);

// Values from pax records or GNU long names that replace those of the header.
using Records = std::map<std::string, std::string, std::less<>>;
// Adds records; an empty value undoes an earlier one. Throws Error.
void parse_pax(std::string_view text, Records& into);
// Whole seconds of "1350244992.023960108", rounded down; clamped to what fits.
std::int64_t parse_pax_time(std::string_view text);

}  // namespace wheelsmith::archive
