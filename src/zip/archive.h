#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/finding.h"

namespace wheelsmith::zip {

enum class Method : std::uint16_t { stored = 0, deflated = 8 };

// One record of the central directory, with ZIP64 fields already merged in.
struct Entry {
  std::string name;  // as stored; may be invalid UTF-8
  std::uint16_t made_by = 0;
  std::uint16_t flags = 0;
  std::uint16_t method = 0;  // a Method, or any other value
  std::uint16_t time = 0;
  std::uint16_t date = 0;
  std::uint32_t crc32 = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;  // of the local header
  std::uint32_t external_attributes = 0;
  bool zip64 = false;  // some field came from the ZIP64 extra
  // Where the next member's header or the directory starts: the member's data ends before it. Equal to header_offset if
  // a later entry has the same local header.
  std::uint64_t room_end = 0;

  [[nodiscard]] bool is_folder() const { return name.ends_with('/'); }
  [[nodiscard]] bool is_encrypted() const { return (flags & 1) != 0; }
  // Unix file type and permission bits, 0 if the archive was not created on Unix.
  [[nodiscard]] std::uint32_t unix_mode() const { return (made_by >> 8) == 3 ? external_attributes >> 16 : 0; }
  [[nodiscard]] bool is_symlink() const { return (unix_mode() & 0170000) == 0120000; }
  // Over 64 MB and more than 200 times its packed size: no real member is like that, and it is never inflated.
  [[nodiscard]] bool is_bomb() const;
};

// The end records, with claimed and actual offsets. Offsets in an archive count from its first byte; prepended data (a
// self-extracting stub) shifts all of them, so the directory is located by its end.
struct End {
  std::uint64_t offset = 0;            // of the end record
  std::uint64_t record64_offset = 0;   // of the ZIP64 end record, if zip64
  std::uint64_t directory_offset = 0;  // as found
  std::uint64_t directory_size = 0;
  std::uint64_t claimed_directory_offset = 0;
  std::uint64_t claimed_count = 0;
  bool zip64 = false;
  bool directory_apart = false;  // the directory does not end where the end records start

  // The file offset for the archive's offset `claimed`; the largest number if out of range.
  [[nodiscard]] std::uint64_t place(std::uint64_t claimed) const;
};

// A ZIP archive in memory. Opening reads only the central directory; members are read individually, from any thread.
class Archive {
 public:
  // Throws Error if there is no readable central directory.
  static Archive open(Bytes file);

  [[nodiscard]] const std::vector<Entry>& entries() const { return m_entries; }
  // The last entry of that name (as most readers do), or null.
  [[nodiscard]] const Entry* find(std::string_view name) const;

  // All members together over 1 GB and more than 200 times the file: read() then refuses members over 1 MB.
  [[nodiscard]] bool is_bomb() const;

  // The member's stored bytes, still compressed. Throws if they are outside the file or overlap another member: shared
  // data lets a small file unpack to any size.
  [[nodiscard]] Bytes packed(const Entry& entry) const;

  // The member's first bytes, at most `count`, without unpacking the rest. Throws on a broken stream.
  [[nodiscard]] std::string peek(const Entry& entry, std::size_t count) const;

  // The member unpacked, with size and CRC checked. Refuses bombs, encrypted members and unknown methods. A stored
  // member is a view into the file, any other its own buffer.
  [[nodiscard]] Blob read(const Entry& entry) const;
  // The same into memory that the caller provides.
  using Allocate = std::function<std::shared_ptr<std::uint8_t>(std::uint64_t size)>;
  [[nodiscard]] Blob read(const Entry& entry, const Allocate& allocate) const;

  // All problems of the archive itself: local headers that disagree with the directory, wrong ZIP64 fields, overlapping
  // members, unused bytes, duplicate names, symlinks, encryption, unknown methods, bombs. Member data is not unpacked.
  // At most 51 findings of one id. Ids: see src/zip/archive_check.cc.
  [[nodiscard]] std::vector<Finding> check() const;

 private:
  void read_directory();
  void index_entries();

  Bytes m_file;
  End m_end;
  std::vector<Entry> m_entries;
  std::vector<std::uint32_t> m_by_name;  // indices into m_entries, sorted by name
  std::uint64_t m_total_size = 0;        // claimed unpacked size of all members, saturating
};

}  // namespace wheelsmith::zip
