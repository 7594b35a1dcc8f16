#include <fmt/format.h>

#include <optional>

#include "base/text.h"
#include "zip/check_parts.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::string_view k_two_archives =
    "Streaming installers use the local header, others the directory, so the result depends on the tool; PyPI rejects "
    "such wheels.";

constexpr Rule k_local_header{"zip-local-header", Severity::error, "No reader can find the member's data.",
                              "Download or build the wheel again: it is corrupt."};
constexpr Rule k_local_name{"zip-local-name", Severity::error, k_two_archives, k_build_again};
constexpr Rule k_local_method{"zip-local-method", Severity::error, k_two_archives, k_build_again};
constexpr Rule k_local_flags{"zip-local-flags", Severity::error, k_two_archives, k_build_again};
constexpr Rule k_local_crc{"zip-local-crc", Severity::error, k_two_archives, k_build_again};
constexpr Rule k_local_size{"zip-local-size", Severity::error, k_two_archives, k_build_again};
constexpr Rule k_zip64_local{"zip-zip64-local", Severity::error,
                             "Strict installers and PyPI reject a local header whose ZIP64 extra field is not both "
                             "sizes, and streaming readers lose their position.",
                             "Rebuild the wheel with a current tool: some tools copy the directory's extra field into "
                             "the local header when they rewrite an archive."};
// Bazel's packer writes every member of protobuf's wheels like this, and installers accept them.
constexpr Rule k_zip64_local_needless{"zip-zip64-needless", Severity::note,
                                      "It is harmless as long as the values are correct, and only takes space.",
                                      k_build_again};
constexpr Rule k_descriptor{"zip-descriptor", Severity::error, "Streaming readers cannot find where this member ends.",
                            k_build_again};

// The forms of a data descriptor; 64-bit sizes first, because zeros after a 32-bit one are not a header.
template <class Size>
struct Descriptor {
  le32 crc32;
  Size packed_size, size;
};

template <class Size>
bool matches(Bytes bytes, const Entry& entry) {
  if (bytes.size() < sizeof(Descriptor<Size>)) return false;
  const auto found = bytes.get<Descriptor<Size>>(0);
  return found.crc32 == entry.crc32 && found.packed_size == entry.packed_size && found.size == entry.size;
}

// The length of the data descriptor at the offset, if there is one that matches the entry.
std::optional<std::uint64_t> find_descriptor(Bytes file, std::uint64_t offset, const Entry& entry) {
  for (const std::uint64_t signature : {4u, 0u}) {
    const Bytes bytes = file.clamp(offset, 24);
    if (signature != 0 && (bytes.size() < 4 || bytes.get<le32>(0) != k_descriptor_signature)) continue;
    const Bytes body = bytes.from(signature);
    if (matches<le64>(body, entry)) return signature + sizeof(Descriptor<le64>);
    if (matches<le32>(body, entry)) return signature + sizeof(Descriptor<le32>);
  }
  return {};
}

void check_local_sizes(const Entry& entry, const LocalHeader& header, const WideFields& fields, Report& report) {
  if (header.crc32 != entry.crc32) {
    report.add(
        k_local_crc, entry.name,
        fmt::format("the local header has CRC {:08x}, but the directory {:08x}", header.crc32 + 0u, entry.crc32));
  }
  if (fields.missing) return;  // already reported
  if (fields.packed_size != entry.packed_size || fields.size != entry.size) {
    report.add(k_local_size, entry.name,
               fmt::format("the local header says {} bytes packed and {} unpacked, but the directory {} and {}",
                           fields.packed_size, fields.size, entry.packed_size, entry.size));
  }
}

void check_local_zip64(const Entry& entry, const LocalHeader& header, const Extras& extras, const WideFields& fields,
                       Report& report) {
  if (!extras.whole) {
    report.add(k_zip64_local, entry.name, "an extra field in the local header exceeds its length");
  }
  if (extras.zip64_count > 1) {
    report.add(k_zip64_local, entry.name,
               fmt::format("the local header has {} ZIP64 extra fields", extras.zip64_count));
  } else if (fields.missing) {
    report.add(
        k_zip64_local, entry.name,
        fmt::format("sizes of 0xffffffff in the local header need 16 bytes in the ZIP64 extra field, which has {}",
                    extras.zip64 ? extras.zip64->size() : 0));
  } else if (extras.zip64 && extras.zip64->size() != 16) {
    report.add(k_zip64_local, entry.name,
               fmt::format("the ZIP64 extra field of the local header has {} bytes instead of 16 for both sizes",
                           extras.zip64->size()));
  } else if (extras.zip64 && !fields.widened && (header.flags & k_flag_descriptor) == 0) {
    // With a descriptor, the extra field says that its sizes have 64 bits.
    const bool is_true = extras.zip64->get<le64>(0) == entry.size && extras.zip64->get<le64>(8) == entry.packed_size;
    report.add(is_true ? k_zip64_local_needless : k_zip64_local, entry.name,
               "the local header has a ZIP64 extra field, but no size of 0xffffffff");
  }
}

}  // namespace

Region check_local(Bytes file, const Entry& entry, Report& report) {
  const auto header = find_at<LocalHeader>(file, entry.header_offset, k_local_signature);
  if (!header) {
    report.add(k_local_header, entry.name, fmt::format("no local header at offset {:#x}", entry.header_offset));
    return {};
  }
  const std::uint64_t start = entry.header_offset + sizeof(LocalHeader) + header->name_size + header->extra_size;
  if (!file.contains(start, entry.packed_size)) {
    report.add(k_local_header, entry.name,
               fmt::format("{} bytes of data at offset {:#x} are outside the file", entry.packed_size, start));
    return {};
  }
  const Bytes name = file.slice(entry.header_offset + sizeof(LocalHeader), header->name_size);
  if (name.text() != entry.name) {
    report.add(k_local_name, entry.name, "the local header names it " + printable(name.text()));
  }
  if (header->method != entry.method) {
    report.add(k_local_method, entry.name,
               fmt::format("the local header says method {}, but the directory {}", header->method + 0u, entry.method));
  }
  constexpr unsigned k_level_bits = 6;  // compression effort; irrelevant to readers
  if (((header->flags ^ entry.flags) & ~k_level_bits) != 0) {
    report.add(
        k_local_flags, entry.name,
        fmt::format("the local header has flags {:#06x}, but the directory {:#06x}", header->flags + 0u, entry.flags));
  }
  const Extras extras =
      parse_extras(file.slice(entry.header_offset + sizeof(LocalHeader) + header->name_size, header->extra_size));
  const WideFields fields = widen(*header, extras);
  check_local_zip64(entry, *header, extras, fields, report);
  Region region{entry.header_offset, start + entry.packed_size, &entry};
  if ((header->flags & k_flag_descriptor) == 0) {
    check_local_sizes(entry, *header, fields, report);
  } else if (const auto length = find_descriptor(file, region.end, entry)) {
    region.end += *length;
  } else {
    report.add(k_descriptor, entry.name, "no data descriptor with its CRC and sizes follows the data");
  }
  return region;
}

}  // namespace wheelsmith::zip
