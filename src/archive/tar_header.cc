#include "archive/tar_header.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::archive {

namespace {

std::optional<std::int64_t> binary_number(std::string_view field) {
  const auto first = static_cast<std::uint8_t>(field.front());
  const bool negative = (first & 0x40) != 0;
  // Two's complement of 7 + 8 (n - 1) bits: all but the last 8 bytes must repeat the sign.
  std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
  const std::uint8_t filler = negative ? 0xff : 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    auto byte = static_cast<std::uint8_t>(field[i]);
    if (i == 0) byte = negative ? byte : static_cast<std::uint8_t>(byte & 0x7f);
    if (field.size() - i > 8 && byte != filler) return {};
    value = value << 8 | byte;
  }
  const auto number = static_cast<std::int64_t>(value);
  if ((number < 0) != negative) return {};
  return number;
}

}  // namespace

std::optional<std::int64_t> field_number(std::string_view field) {
  if (!field.empty() && (static_cast<std::uint8_t>(field.front()) & 0x80) != 0) return binary_number(field);
  field = field.substr(0, field.find('\0'));
  field = trim(field);
  std::int64_t value = 0;
  if (field.empty()) return value;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  if (error != std::errc() || end != field.data() + field.size() || value < 0) return {};
  return value;
}

bool checksum_holds(const Header& header) {
  const std::string_view field(header.checksum, sizeof header.checksum);
  const std::optional<std::int64_t> claimed = field_number(field);
  if (!claimed) return false;
  // Some old writers summed signed characters; both sums are in use.
  std::int64_t of_unsigned = 0;
  std::int64_t of_signed = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  for (std::size_t i = 0; i < sizeof header; ++i) {
    const bool inside = i >= offsetof(Header, checksum) && i < offsetof(Header, typeflag);
    const unsigned char byte = inside ? static_cast<unsigned char>(' ') : bytes[i];
    of_unsigned += byte;
    of_signed += static_cast<signed char>(byte);
  }
  return *claimed == of_unsigned || *claimed == of_signed;
}

bool is_zero_block(const Header& header) {
  const auto* bytes = reinterpret_cast<const char*>(&header);
  return std::all_of(bytes, bytes + sizeof header, [](char byte) { return byte == 0; });
}

std::string header_name(const Header& header) {
  std::string name(field_text(header.name));
  // GNU's magic is "ustar " and its headers hold other things where the prefix would be.
  const bool ustar = std::string_view(header.magic, sizeof header.magic) == std::string_view("ustar\0", 6);
  const std::string_view prefix = field_text(header.prefix);
  if (ustar && !prefix.empty()) name = std::string(prefix) + '/' + name;
  return name;
}

void parse_pax(std::string_view text, Records& into) {
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const auto length = blank == std::string_view::npos ? std::nullopt : to_number(text.substr(0, blank));
    if (!length || *length <= blank + 1 || *length > text.size() || text[*length - 1] != '\n') {
      throw Error("tar: a pax header is malformed");
    }
    const std::string_view record = text.substr(blank + 1, *length - blank - 2);
    text.remove_prefix(*length);
    const std::size_t equals = record.find('=');
    if (equals == std::string_view::npos || equals == 0) throw Error("tar: a pax header is malformed");
    const std::string_view key = record.substr(0, equals);
    if (key.starts_with("GNU.sparse.")) throw Error("tar: sparse files are not supported");
    if (key != "path" && key != "linkpath" && key != "size" && key != "mtime") continue;
    into.insert_or_assign(std::string(key), std::string(record.substr(equals + 1)));
  }
}

std::int64_t parse_pax_time(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t dot = text.find('.');
  const auto whole = to_number(text.substr(0, dot));
  constexpr auto k_most = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()) * 1000;
  if (!whole) throw Error("tar: a pax header has an invalid time");
  const auto seconds = static_cast<std::int64_t>(std::min(*whole, k_most));
  if (!negative) return seconds;
  const bool fraction = dot != std::string_view::npos && text.find_first_not_of("0", dot + 1) != std::string_view::npos;
  return -seconds - (fraction ? 1 : 0);
}

}  // namespace wheelsmith::archive
