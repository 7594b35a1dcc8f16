#include "elf/edit_room.h"

#include <algorithm>
#include <limits>

#include "elf/elf_format.h"

namespace wheelsmith::elf {

std::uint64_t Rooms::page(const ElfFile& file) {
  const bool small = file.machine == k_machine_x86_64 || file.machine == k_machine_386;
  return small ? 0x1000 : 0x10000;
}

std::uint64_t Rooms::free_from(std::uint64_t offset, std::uint64_t wanted, bool inside_loads) const {
  if (inside_loads && m_file.sections.empty()) return 0;
  std::uint64_t size = std::min(wanted, std::numeric_limits<std::uint64_t>::max() - offset);
  const auto claim = [&](std::uint64_t other, std::uint64_t other_size) {
    if (other_size == 0 || offset >= other + std::min(other_size, ~other)) return;
    size = std::min(size, other > offset ? other - offset : 0);
  };
  const std::uint64_t header = m_file.is_64bit ? sizeof(Elf64Le::Header) : sizeof(Elf32Le::Header);
  const std::uint64_t program_header =
      m_file.is_64bit ? sizeof(Elf64Le::ProgramHeader) : sizeof(Elf32Le::ProgramHeader);
  const std::uint64_t section_header =
      m_file.is_64bit ? sizeof(Elf64Le::SectionHeader) : sizeof(Elf32Le::SectionHeader);
  claim(0, header);
  claim(m_file.program_headers_offset, m_file.program_header_count * program_header);
  claim(m_file.section_headers_offset, m_file.sections.size() * section_header);
  for (const Section& section : m_file.sections) {
    if (section.type != 0 && section.type != k_section_nobits) claim(section.offset, section.size);
  }
  for (const Segment& segment : m_file.segments) {
    const bool may_hold_it = inside_loads && (segment.type == k_segment_load || segment.type == k_segment_phdr ||
                                              segment.type == k_segment_gnu_relro);
    if (segment.type != k_segment_null && !may_hold_it) claim(segment.offset, segment.file_size);
  }
  // Unclaimed bytes that are not zero belong to something unknown.
  const Bytes there = m_file.bytes().clamp(offset, size);
  const std::uint8_t* taken =
      std::find_if(there.data(), there.data() + there.size(), [](std::uint8_t byte) { return byte != 0; });
  const auto zeros = static_cast<std::uint64_t>(taken - there.data());
  return zeros == there.size() ? size : zeros;
}

// The loader maps whole pages: the next segment's first page must stay its own.
std::uint64_t Rooms::free_memory_behind(const Segment& load) const {
  const std::uint64_t end = load.address + load.memory_size;
  std::uint64_t limit = m_file.is_64bit ? std::numeric_limits<std::int64_t>::max() : 0xffff0000ULL;
  for (const Segment& other : m_file.segments) {
    if (other.type != k_segment_load || other.address <= load.address) continue;
    limit = std::min(limit, other.address / page(m_file) * page(m_file));
  }
  return limit > end ? limit - end : 0;
}

bool Rooms::grow(std::size_t load, std::uint64_t size) {
  const Segment& segment = m_file.segments[load];
  const auto known = m_grown.find(load);
  const std::uint64_t before = known == m_grown.end() ? 0 : known->second;
  // Zeros follow the file's part in memory, unless there are none.
  if (segment.type != k_segment_load || segment.file_size != segment.memory_size || segment.file_size == 0)
    return false;
  if (size > free_memory_behind(segment) || before > free_memory_behind(segment) - size) return false;
  const std::uint64_t end = segment.offset + segment.file_size;
  if (free_from(end, before + size, false) < before + size) return false;
  // Two segments that end at the same offset cannot both use the bytes after it.
  for (const auto& [other, other_size] : m_grown) {
    const std::uint64_t other_end = m_file.segments[other].offset + m_file.segments[other].file_size;
    if (other != load && end < other_end + other_size && other_end < end + before + size) return false;
  }
  m_grown[load] = before + size;
  return true;
}

std::optional<FileRange> Rooms::take(std::uint32_t flags, std::uint64_t size, std::uint64_t align) {
  for (std::size_t i = 0; i < m_file.segments.size(); ++i) {
    const Segment& segment = m_file.segments[i];
    if (segment.type != k_segment_load || segment.flags != flags) continue;
    const auto known = m_grown.find(i);
    const std::uint64_t used = segment.file_size + (known == m_grown.end() ? 0 : known->second);
    const std::uint64_t padding = (align - (segment.address + used) % align) % align;
    if (grow(i, padding + size)) return FileRange{segment.offset + used + padding, segment.address + used + padding};
  }
  return {};
}

}  // namespace wheelsmith::elf
