#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "zip/check_parts.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::string_view k_readers_differ =
    "Readers that use the other location see a different archive or none: it installs with one tool and not with the "
    "next.";

constexpr Rule k_directory_place{"zip-directory-place", Severity::error, k_readers_differ, k_build_again};
constexpr Rule k_entry_count{"zip-entry-count", Severity::error, k_readers_differ, k_build_again};
constexpr Rule k_end_records{"zip-end-records", Severity::error, k_readers_differ, k_build_again};
constexpr Rule k_end_ambiguous{"zip-end-ambiguous", Severity::error, k_readers_differ,
                               "Remove the archive's comment, or rebuild the wheel without one."};
constexpr Rule k_zip64_locator{"zip-zip64-locator", Severity::error,
                               "Readers that follow the locator, as the format requires, find no directory.",
                               k_build_again};
constexpr Rule k_multi_disk{"zip-multi-disk", Severity::error, "Installers do not support multi-part archives.",
                            "Write the wheel as one file."};
constexpr Rule k_comment_length{"zip-comment-length", Severity::error,
                                "Readers that check the comment's length find no end record.",
                                "Download or build the wheel again: it is truncated."};
constexpr Rule k_trailing_data{
    "zip-trailing-data", Severity::error,
    "PyPI rejects it, and readers that expect the end record at the end find none.",
    "Truncate the file where the archive ends, or download it again: it may be two downloads in one."};

void check_directory(const End& end, std::size_t entry_count, Report& report) {
  if (end.directory_apart) {
    report.add(k_directory_place, k_whole_archive,
               fmt::format("the central directory is at offset {:#x} and does not end where its end record starts",
                           end.directory_offset));
  } else if (end.directory_offset < end.claimed_directory_offset) {
    report.add(k_directory_place, k_whole_archive,
               fmt::format("the central directory is at offset {:#x}, but the end record says {:#x}",
                           end.directory_offset, end.claimed_directory_offset));
  }
  if (entry_count != end.claimed_count) {
    report.add(k_entry_count, k_whole_archive,
               fmt::format("the central directory has {} entries, but the end record says {}", entry_count,
                           end.claimed_count));
  }
}

void check_locator(Bytes file, const End& end, Report& report) {
  if (end.offset < sizeof(Locator64)) return;
  const auto locator = find_at<Locator64>(file, end.offset - sizeof(Locator64), k_locator64_signature);
  if (!locator) return;
  if (locator->record_disk != 0 || locator->disks > 1) {
    report.add(k_multi_disk, k_whole_archive, fmt::format("its ZIP64 locator declares {} disks", locator->disks + 0u));
  }
  const std::uint64_t claimed = locator->record_offset;
  if (!end.zip64) {
    report.add(k_zip64_locator, k_whole_archive,
               fmt::format("the ZIP64 locator points to offset {:#x}, where there is no ZIP64 end record", claimed));
  } else if (claimed != end.record64_offset && end.place(claimed) != end.record64_offset) {
    report.add(k_zip64_locator, k_whole_archive,
               fmt::format("the ZIP64 locator points to offset {:#x}, but the ZIP64 end record is at {:#x}", claimed,
                           end.record64_offset));
  }
}

// The end record holds 0xffff or 0xffffffff if the ZIP64 record has the value, or the same value.
void check_record64(Bytes file, const End& end, Report& report) {
  if (!end.zip64) return;
  const auto record = file.get<EndRecord>(end.offset);
  const auto record64 = file.get<EndRecord64>(end.record64_offset);
  const auto differ = [&](std::string_view what, std::uint64_t narrow, std::uint64_t limit, std::uint64_t wide) {
    if (narrow == limit || narrow == wide) return;
    report.add(k_end_records, k_whole_archive,
               fmt::format("the end record says {} for the {}, but the ZIP64 end record says {}", narrow, what, wide));
  };
  differ("number of entries", record.count, k_count_in_zip64, record64.count);
  differ("directory's size", record.directory_size, k_in_zip64, record64.directory_size);
  differ("directory's offset", record.directory_offset, k_in_zip64, record64.directory_offset);
  if (record64.disk != 0 || record64.directory_disk != 0 || record64.disk_count != record64.count) {
    report.add(k_multi_disk, k_whole_archive, "its ZIP64 end record belongs to a multi-part archive");
  }
  const std::uint64_t room = end.offset - sizeof(Locator64) - end.record64_offset - 12;
  if (record64.record_size != room) {
    report.add(
        k_end_records, k_whole_archive,
        fmt::format("the ZIP64 end record claims {} bytes, but has {}", record64.record_size + std::uint64_t{0}, room));
  }
}

void check_tail(Bytes file, const End& end, const EndRecord& record, Report& report) {
  const Bytes tail = file.from(end.offset + sizeof(EndRecord));
  if (record.comment_size > tail.size()) {
    report.add(k_comment_length, k_whole_archive,
               fmt::format("its comment claims {} bytes, but {} follow", record.comment_size + 0u, tail.size()));
  } else if (record.comment_size < tail.size()) {
    report.add(k_trailing_data, k_whole_archive,
               fmt::format("{} follow the end of the archive", human_bytes(tail.size() - record.comment_size)));
  }
  // Searching backwards finds an end record inside the comment; searching forwards finds the other one.
  const std::uint64_t first = end.offset > 0xffff ? end.offset - 0xffff : 0;
  const Bytes before = file.slice(first, end.offset - first);
  bool ambiguous = tail.find(k_end_magic) != tail.size();
  for (std::uint64_t at = before.find(k_end_magic); at < before.size() && !ambiguous;
       at = before.find(k_end_magic, at + 1)) {
    const auto other = find_at<EndRecord>(file, first + at, k_end_signature);
    const std::uint64_t rest = file.size() - (first + at) - sizeof(EndRecord);
    ambiguous = other && other->comment_size == rest;
  }
  if (ambiguous) {
    report.add(k_end_ambiguous, k_whole_archive, "there is more than one end record near its end");
  }
}

}  // namespace

void check_end(Bytes file, const End& end, std::size_t entry_count, Report& report) {
  const auto record = file.get<EndRecord>(end.offset);
  if (record.disk != 0 || record.directory_disk != 0 || record.disk_count != record.count) {
    // With ZIP64, both disk numbers may be 0xffff.
    const bool in_zip64 = end.zip64 && (record.disk == 0 || record.disk == k_count_in_zip64) &&
                          (record.directory_disk == 0 || record.directory_disk == k_count_in_zip64) &&
                          record.disk_count == record.count;
    if (!in_zip64) report.add(k_multi_disk, k_whole_archive, "its end record belongs to a multi-part archive");
  }
  check_directory(end, entry_count, report);
  check_locator(file, end, report);
  check_record64(file, end, report);
  check_tail(file, end, record, report);
}

}  // namespace wheelsmith::zip
