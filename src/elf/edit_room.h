#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "elf/elf_file.h"

// Where a file has room for a little more: bytes that belong to nobody. Linkers round segments up to pages in the file,
// sections up to their alignment, and a segment that ends with the file can always grow.

namespace wheelsmith::elf {

struct FileRange {
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
};

class Rooms {
 public:
  explicit Rooms(const ElfFile& file) : m_file(file) {}

  // How many bytes from the offset on are nobody's: in no section, table or segment, and zeros; at most `wanted`.
  // Behind the file's end there is room without end. With `inside_loads` they may lie in a LOAD segment; then the
  // section headers must be there to tell.
  [[nodiscard]] std::uint64_t free_from(std::uint64_t offset, std::uint64_t wanted, bool inside_loads) const;

  // Takes `size` bytes right behind what a LOAD has, which grows by them. False when they are not free, in the file or
  // in memory.
  bool grow(std::size_t load, std::uint64_t size);
  // The same behind any LOAD with just these permissions.
  std::optional<FileRange> take(std::uint32_t flags, std::uint64_t size, std::uint64_t align);

  // By how much segments grew, by their place in the file's list.
  [[nodiscard]] const std::map<std::size_t, std::uint64_t>& grown() const { return m_grown; }

  // Pages of a machine; the largest that its kernels use.
  [[nodiscard]] static std::uint64_t page(const ElfFile& file);

 private:
  [[nodiscard]] std::uint64_t free_memory_behind(const Segment& load) const;

  const ElfFile& m_file;
  std::map<std::size_t, std::uint64_t> m_grown;
};

}  // namespace wheelsmith::elf
