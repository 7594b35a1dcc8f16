#include "zip/format.h"

#include <fmt/format.h>

#include "base/error.h"

namespace wheelsmith::zip {

DirectoryRecord take_directory_record(Cursor& cursor) {
  const std::uint64_t at = cursor.at();
  DirectoryRecord record;
  record.header = cursor.take<DirectoryHeader>();
  if (record.header.signature != k_directory_signature) {
    throw Error(fmt::format("invalid central directory record at byte {:#x}", at));
  }
  record.name = cursor.take_bytes(record.header.name_size);
  record.extra = cursor.take_bytes(record.header.extra_size);
  cursor.skip(record.header.comment_size);
  return record;
}

Extras parse_extras(Bytes extra) {
  struct Head {
    le16 id, size;
  };
  Extras extras;
  Cursor cursor(extra);
  // Fewer than four bytes at the end are padding by tools that align members.
  while (cursor.left() >= sizeof(Head)) {
    const auto head = cursor.take<Head>();
    if (head.size > cursor.left()) {
      extras.whole = false;
      break;
    }
    const Bytes body = cursor.take_bytes(head.size);
    if (head.id == 0x0001) {
      if (extras.zip64_count++ == 0) extras.zip64 = body;
    } else if (head.id == 0x7075 && !extras.unicode_path) {
      extras.unicode_path = body;
    }
  }
  return extras;
}

namespace {

// Replaces the field by the extra's next value.
void take_wide(std::uint64_t& field, Cursor& cursor, WideFields& fields) {
  fields.needed += 8;
  if (cursor.left() < 8) {
    fields.missing = true;
    return;
  }
  field = cursor.take<le64>();
  fields.widened = true;
}

}  // namespace

WideFields widen(const DirectoryHeader& header, const Extras& extras) {
  WideFields fields{.size = header.size, .packed_size = header.packed_size, .header_offset = header.header_offset};
  Cursor cursor(extras.zip64.value_or(Bytes()));
  for (std::uint64_t* field : {&fields.size, &fields.packed_size, &fields.header_offset}) {
    if (*field == k_in_zip64) take_wide(*field, cursor, fields);
  }
  return fields;
}

WideFields widen(const LocalHeader& header, const Extras& extras) {
  WideFields fields{.size = header.size, .packed_size = header.packed_size};
  if (fields.size != k_in_zip64 && fields.packed_size != k_in_zip64) return fields;
  Cursor cursor(extras.zip64.value_or(Bytes()));
  std::uint64_t in_extra = 0;
  for (std::uint64_t* field : {&fields.size, &fields.packed_size}) {
    // A field other than 0xffffffff holds its own value, but its slot in the extra field is still used.
    take_wide(*field == k_in_zip64 ? *field : in_extra, cursor, fields);
  }
  return fields;
}

}  // namespace wheelsmith::zip
