#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>

#include "base/text.h"
#include "zip/check_parts.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr Rule k_name_unsafe{
    "zip-name-unsafe", Severity::error,
    "Tools truncate, translate or reject such names, so the file is installed under another name or not at all.",
    "Rename the file; a backslash often comes from a tool that kept Windows paths."};
constexpr Rule k_name_utf8{"zip-name-utf8", Severity::error,
                           "Python refuses to open an archive whose name is not valid UTF-8 despite the UTF-8 flag.",
                           k_build_again};
constexpr Rule k_name_legacy{
    "zip-name-legacy", Severity::warning,
    "Without the UTF-8 flag the name is decoded as code page 437, and no longer matches RECORD.",
    "Repack the wheel with a tool that sets the UTF-8 flag, or use an ASCII name."};
constexpr Rule k_name_override{"zip-name-override", Severity::error,
                               "Readers that know this extra field unpack the file under the other name.",
                               "Repack the wheel without Info-ZIP's Unicode path extra field."};
constexpr Rule k_extra{"zip-extra", Severity::error, "Python refuses to open the archive.", k_build_again};
constexpr Rule k_zip64_extra{"zip-zip64-extra", Severity::error,
                             "Installers disagree on the member's size and offset, or reject the archive.",
                             k_build_again};
constexpr Rule k_zip64_needless{"zip-zip64-needless", Severity::warning,
                                "Strict readers and PyPI reject ZIP64 values that no field refers to.", k_build_again};
constexpr Rule k_encrypted{"zip-encrypted", Severity::error, "Installers do not support encrypted members.",
                           "Repack the wheel without encryption."};
constexpr Rule k_method{"zip-method", Severity::error,
                        "Wheel members must be stored or deflated; installers need not support other methods.",
                        "Repack the wheel with deflate."};
constexpr Rule k_symlink{"zip-symlink", Severity::error,
                         "Wheels do not support links: installers write a file with the link target as text.",
                         "Replace the link by a copy of the file, or create it when the package is first used."};
constexpr Rule k_stored_size{"zip-stored-size", Severity::error,
                             "One of the two sizes is wrong, and readers disagree on which.", k_build_again};
constexpr Rule k_impossible_size{"zip-impossible-size", Severity::error,
                                 "The size is wrong, and readers that allocate memory for it fail.", k_build_again};
constexpr Rule k_folder_data{"zip-folder-data", Severity::warning,
                             "Installers treat a name that ends in '/' as a folder and discard its data.",
                             "Remove the '/' from the name if it is a file."};

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void check_name(const Entry& entry, const Extras& extras, Report& report) {
  const std::string& name = entry.name;
  if (name.empty()) report.add(k_name_unsafe, name, "a member has no name");
  if (name.find('\0') != std::string::npos) {
    report.add(k_name_unsafe, name, "the name contains a NUL, where Python truncates it: " + printable(name));
  } else if (std::any_of(name.begin(), name.end(), is_control)) {
    report.add(k_name_unsafe, name, "the name contains a control character: " + printable(name));
  } else if (name.find('\\') != std::string::npos) {
    report.add(k_name_unsafe, name, "the name contains a backslash: " + printable(name));
  }
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if ((entry.flags & k_flag_utf8) != 0 && !is_valid_utf8(name)) {
    report.add(k_name_utf8, name, "the name is flagged as UTF-8 but is invalid: " + printable(name));
  } else if ((entry.flags & k_flag_utf8) == 0 && !ascii) {
    report.add(k_name_legacy, name, "the name is neither ASCII nor flagged as UTF-8: " + printable(name));
  }
  // version:u8 crc:u32 name; it applies only if the CRC matches the ordinary name.
  if (!extras.unicode_path || extras.unicode_path->size() < 5) return;
  const Bytes other = extras.unicode_path->from(5);
  if (extras.unicode_path->get<le32>(1) == libdeflate_crc32(0, name.data(), name.size()) && other.text() != name) {
    report.add(k_name_override, name, "an extra field gives it the name " + printable(other.text()));
  }
}

void check_zip64(const Entry& entry, const DirectoryRecord& record, const Extras& extras, Report& report) {
  const WideFields fields = widen(record.header, extras);
  const std::uint64_t there = extras.zip64 ? extras.zip64->size() : 0;
  if (fields.missing) {
    report.add(
        k_zip64_extra, entry.name,
        fmt::format("fields of 0xffffffff need {} bytes in the ZIP64 extra field, which has {}", fields.needed, there));
  } else if (extras.zip64_count > 1) {
    report.add(k_zip64_extra, entry.name, fmt::format("it has {} ZIP64 extra fields", extras.zip64_count));
  } else if (there != fields.needed && there != fields.needed + 4) {  // a disk number may follow
    report.add(k_zip64_needless, entry.name,
               fmt::format("its ZIP64 extra field has {} bytes, but its fields need {}", there, fields.needed));
  }
}

void check_sizes(const Entry& entry, Report& report) {
  const bool stored = entry.method == static_cast<std::uint16_t>(Method::stored);
  if (stored && entry.size != entry.packed_size && !entry.is_encrypted()) {
    report.add(k_stored_size, entry.name,
               fmt::format("stored, but {} bytes packed and {} unpacked", entry.packed_size, entry.size));
  }
  if (entry.method == static_cast<std::uint16_t>(Method::deflated) && !can_inflate_to(entry.packed_size, entry.size)) {
    report.add(
        k_impossible_size, entry.name,
        fmt::format("claims {} bytes from {} packed ones, more than deflate can hold", entry.size, entry.packed_size));
  } else if (entry.is_bomb()) {
    report.add(k_bomb, entry.name,
               fmt::format("{} unpack to {}; a member over 64 MB that unpacks 200-fold is not inflated",
                           human_bytes(entry.packed_size), human_bytes(entry.size)));
  }
  if (entry.is_folder() && entry.size != 0) {
    report.add(k_folder_data, entry.name, fmt::format("a folder with {} bytes of data", entry.size));
  }
}

}  // namespace

void check_entry(const Entry& entry, const DirectoryRecord& record, Report& report) {
  const Extras extras = parse_extras(record.extra);
  check_name(entry, extras, report);
  if (!extras.whole) report.add(k_extra, entry.name, "an extra field in the directory exceeds its length");
  check_zip64(entry, record, extras, report);
  if (entry.is_encrypted()) report.add(k_encrypted, entry.name, "the member is encrypted");
  if (entry.method != static_cast<std::uint16_t>(Method::stored) &&
      entry.method != static_cast<std::uint16_t>(Method::deflated)) {
    report.add(k_method, entry.name, fmt::format("uses compression method {}", entry.method));
  }
  if (entry.is_symlink()) report.add(k_symlink, entry.name, "the member is a symbolic link");
  check_sizes(entry, report);
}

}  // namespace wheelsmith::zip
