#include "zip/archive.h"

// Opening an archive: from its end to its table of contents.
//
// The end record is the only fixed point, and it is searched for, because a comment of up to 65,535 bytes may follow
// it. It says how long the directory is and where it starts. The length is trusted and the start is not: the directory
// must end where the end records begin, and the difference between its actual and claimed offset is the length of the
// data prepended to the archive. All other offsets are shifted by the same amount. Python's zipfile reads archives this
// way, and pip installs what zipfile accepts.
//
// Nothing else is trusted. The number of entries is used only to reserve memory, up to what fits the directory's size.
// 100,000 entries open in about 30 ms.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "zip/format.h"

namespace wheelsmith::zip {

namespace {

constexpr std::uint64_t k_nowhere = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t k_longest_comment = 0xffff;
constexpr std::uint64_t k_bomb_ratio = 200;
constexpr std::uint64_t k_member_bomb_size = 64'000'000;
constexpr std::uint64_t k_archive_bomb_size = 1'000'000'000;

std::uint64_t find_end_record(Bytes file) {
  if (file.size() < sizeof(EndRecord)) throw Error("not a ZIP archive: too short for an end record");
  const std::uint64_t last = file.size() - sizeof(EndRecord);
  const auto at_end = find_at<EndRecord>(file, last, k_end_signature);
  if (at_end && at_end->comment_size == 0) return last;
  const std::uint64_t first = last > k_longest_comment ? last - k_longest_comment : 0;
  const std::string_view tail = file.from(first).text();
  const std::size_t found = tail.rfind(k_end_magic, static_cast<std::size_t>(last - first));
  if (found == std::string_view::npos) throw Error("not a ZIP archive: no end record in the last 64 kB");
  return first + found;
}

// The ZIP64 end record is right before its locator; only one with extensions is further away, and then only the locator
// finds it.
std::optional<std::uint64_t> find_record64(Bytes file, std::uint64_t end_offset) {
  constexpr std::uint64_t k_behind = sizeof(EndRecord64) + sizeof(Locator64);
  if (end_offset < k_behind) return {};
  const auto locator = find_at<Locator64>(file, end_offset - sizeof(Locator64), k_locator64_signature);
  if (!locator) return {};
  for (const std::uint64_t at : {end_offset - k_behind, std::uint64_t{locator->record_offset}}) {
    if (at <= end_offset - k_behind && find_at<EndRecord64>(file, at, k_record64_signature)) return at;
  }
  return {};
}

End find_end(Bytes file) {
  End end;
  end.offset = find_end_record(file);
  const auto record = file.get<EndRecord>(end.offset);
  end.claimed_count = record.count;
  end.directory_size = record.directory_size;
  end.claimed_directory_offset = record.directory_offset;
  std::uint64_t directory_end = end.offset;
  if (const auto at = find_record64(file, end.offset)) {
    const auto record64 = file.get<EndRecord64>(*at);
    end.zip64 = true;
    end.record64_offset = *at;
    end.claimed_count = record64.count;
    end.directory_size = record64.directory_size;
    end.claimed_directory_offset = record64.directory_offset;
    directory_end = *at;
  }
  if (end.directory_size > directory_end) {
    throw Error(fmt::format("the central directory claims {} bytes, but only {} precede its end record",
                            end.directory_size, directory_end));
  }
  end.directory_offset = directory_end - end.directory_size;
  if (end.directory_size == 0 || find_at<DirectoryHeader>(file, end.directory_offset, k_directory_signature)) {
    return end;
  }
  const std::uint64_t claimed = end.claimed_directory_offset;
  if (file.clamp(0, directory_end).contains(claimed, end.directory_size) &&
      find_at<DirectoryHeader>(file, claimed, k_directory_signature)) {
    end.directory_offset = claimed;
    end.directory_apart = true;
    return end;
  }
  throw Error(fmt::format("no central directory at offset {:#x}", end.directory_offset));
}

}  // namespace

std::uint64_t End::place(std::uint64_t claimed) const {
  if (directory_offset >= claimed_directory_offset) {
    const std::uint64_t moved = directory_offset - claimed_directory_offset;
    return claimed <= k_nowhere - moved ? claimed + moved : k_nowhere;
  }
  const std::uint64_t moved = claimed_directory_offset - directory_offset;
  return claimed >= moved ? claimed - moved : k_nowhere;
}

bool Entry::is_bomb() const { return size > k_member_bomb_size && size / k_bomb_ratio > packed_size; }

bool Archive::is_bomb() const {
  return m_total_size > k_archive_bomb_size && m_total_size / k_bomb_ratio > m_file.size();
}

Archive Archive::open(Bytes file) {
  Archive archive;
  archive.m_file = file;
  archive.m_end = find_end(file);
  archive.read_directory();
  archive.index_entries();
  return archive;
}

void Archive::read_directory() {
  const Bytes directory = m_file.slice(m_end.directory_offset, m_end.directory_size);
  const std::uint64_t most = directory.size() / sizeof(DirectoryHeader);
  if (most > std::numeric_limits<std::uint32_t>::max()) throw Error("the central directory is too large");
  m_entries.reserve(static_cast<std::size_t>(std::min(m_end.claimed_count, most)));
  Cursor cursor(directory);
  while (!cursor.done()) {
    const DirectoryRecord record = take_directory_record(cursor);
    const DirectoryHeader& header = record.header;
    const WideFields fields = widen(header, parse_extras(record.extra));
    Entry entry;
    entry.name = record.name.text();
    entry.made_by = header.made_by;
    entry.flags = header.flags;
    entry.method = header.method;
    entry.time = header.time;
    entry.date = header.date;
    entry.crc32 = header.crc32;
    entry.packed_size = fields.packed_size;
    entry.size = fields.size;
    entry.header_offset = m_end.place(fields.header_offset);
    entry.external_attributes = header.external_attributes;
    entry.zip64 = fields.widened;
    m_total_size = fields.size <= k_nowhere - m_total_size ? m_total_size + fields.size : k_nowhere;
    m_entries.push_back(std::move(entry));
  }
}

// Both orders are stable, so that of several entries with one name or one header the last one wins.
void Archive::index_entries() {
  m_by_name.resize(m_entries.size());
  std::iota(m_by_name.begin(), m_by_name.end(), 0u);
  std::vector<std::uint32_t> by_offset = m_by_name;
  std::stable_sort(m_by_name.begin(), m_by_name.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return m_entries[a].name < m_entries[b].name; });
  std::stable_sort(by_offset.begin(), by_offset.end(), [&](std::uint32_t a, std::uint32_t b) {
    return m_entries[a].header_offset < m_entries[b].header_offset;
  });
  std::uint64_t room_end = m_end.directory_offset;
  for (auto it = by_offset.rbegin(); it != by_offset.rend(); ++it) {
    m_entries[*it].room_end = room_end;
    room_end = std::min(room_end, m_entries[*it].header_offset);
  }
}

const Entry* Archive::find(std::string_view name) const {
  const auto end =
      std::upper_bound(m_by_name.begin(), m_by_name.end(), name,
                       [&](std::string_view wanted, std::uint32_t i) { return wanted < m_entries[i].name; });
  if (end == m_by_name.begin() || m_entries[*(end - 1)].name != name) return nullptr;
  return &m_entries[*(end - 1)];
}

}  // namespace wheelsmith::zip
