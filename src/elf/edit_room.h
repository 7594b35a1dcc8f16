#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "elf/elf_file.h"

// Finds unused bytes in a file. Linkers round segments up to pages in the file, sections up to their alignment, and a
// segment that ends with the file can always grow.

namespace wheelsmith::elf {

struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
};

class Rooms {
 public:
  explicit Rooms(const ElfFile& file) : m_file(file) {}

  // The number of unused bytes at the offset: zeros in no section, table or segment; at most `wanted`. Space after the
  // end of the file is unlimited. With `inside_loads` they may be in a LOAD segment; this requires section headers.
  [[nodiscard]] std::uint64_t free_from(std::uint64_t offset, std::uint64_t wanted, bool inside_loads) const;

  // Extends a LOAD by the `size` bytes right after it. False if they are not free in the file or in memory.
  bool grow(std::size_t load, std::uint64_t size);
  // The same for any LOAD with exactly these permissions.
  std::optional<FileRange> take(std::uint32_t flags, std::uint64_t size, std::uint64_t align);

  // By how much each segment grew, by index.
  [[nodiscard]] const std::map<std::size_t, std::uint64_t>& grown() const { return m_grown; }

  // The largest page size that a machine's kernels use.
  [[nodiscard]] static std::uint64_t page(const ElfFile& file);

 private:
  [[nodiscard]] std::uint64_t free_memory_behind(const Segment& load) const;

  const ElfFile& m_file;
  std::map<std::size_t, std::uint64_t> m_grown;
};

}  // namespace wheelsmith::elf
