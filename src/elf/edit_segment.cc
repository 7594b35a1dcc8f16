#include <fmt/format.h>

#include <algorithm>

#include "elf/editor.h"

// The new segment at the end of the file, and its program header.

namespace wheelsmith::elf {

namespace {

constexpr std::uint64_t k_most_zeros = 256U << 20;  // maximum padding for kernels before 5.18

}  // namespace

template <class F>
bool Editor<F>::headers_can_grow_in_place() const {
  const std::uint64_t size = m_headers.size() * sizeof(ProgramHeader);
  const std::uint64_t end = m_file.program_headers_offset + size;
  const std::uint64_t grown = size + sizeof(ProgramHeader);
  bool is_mapped = false, fits = false, has_spare = false;
  for (const Segment& s : m_file.segments) {
    if (s.type == k_segment_phdr) {
      is_mapped = true;
      // A tool that moved the table may have reserved entries and counted them.
      has_spare = s.offset == m_file.program_headers_offset && s.file_size >= grown;
    }
    if (s.type != k_segment_load || m_file.program_headers_offset < s.offset) continue;
    const std::uint64_t before = m_file.program_headers_offset - s.offset;
    is_mapped |= before < s.file_size;
    fits |= before <= s.file_size && grown <= s.file_size - before;
  }
  if (is_mapped && !fits) return false;
  if (m_rooms.free_from(end, sizeof(ProgramHeader), true) >= sizeof(ProgramHeader))
    return m_bytes.contains(end, sizeof(ProgramHeader));
  if (!has_spare || !m_bytes.contains(end, sizeof(ProgramHeader))) return false;
  const Bytes spare = m_bytes.slice(end, sizeof(ProgramHeader));
  return m_file.sections.empty() && all_zero(spare);
}

template <class F>
void Editor<F>::place_new_segment() {
  const auto free_slot = std::find_if(m_headers.begin(), m_headers.end(),
                                      [](const ProgramHeader& header) { return header.type == k_segment_null; });
  const bool has_slot = free_slot != m_headers.end();
  const bool move_headers = !has_slot && !headers_can_grow_in_place();
  std::uint64_t size = 0;
  const std::uint64_t count = m_headers.size() + (has_slot ? 0 : 1) + (move_headers ? 1 : 0);
  if (move_headers) size = round_up(count * sizeof(ProgramHeader), 16);
  const std::uint64_t tags_at = size;
  if (m_segment_has_tags) size += m_dynamic_size;
  const std::uint64_t strings_at = size;
  if (m_segment_has_strings) size += m_table.size();
  const FileRange place = choose_place(move_headers);
  if (m_segment_has_tags) m_new_dynamic = {place.offset + tags_at, place.address + tags_at};
  if (m_segment_has_strings) m_new_strings = {place.offset + strings_at, place.address + strings_at};
  if (has_slot) m_headers.erase(free_slot);
  ProgramHeader load;
  load.type = k_segment_load;
  load.flags = k_readable | (m_segment_has_tags ? k_writable : 0U);
  load.offset = word(place.offset);
  load.address = load.physical_address = word(place.address);
  load.file_size = load.memory_size = word(size);
  load.align = word(alignment());
  const auto last = std::find_if(m_headers.rbegin(), m_headers.rend(),
                                 [](const ProgramHeader& header) { return header.type == k_segment_load; });
  m_headers.insert(last.base(), load);
  if (move_headers) {
    m_headers.push_back(ProgramHeader());
    std::memset(&m_headers.back(), 0, sizeof(ProgramHeader));
    m_moved_headers = place;
  }
}

template <class F>
std::uint64_t Editor<F>::alignment() const {
  std::uint64_t most = 0x1000;
  for (const Segment& s : m_file.segments) {
    if (s.type == k_segment_load) most = std::max(most, s.align);
  }
  return std::min(most, Rooms::page(m_file));
}

template <class F>
FileRange Editor<F>::choose_place(bool move_headers) {
  std::uint64_t memory_end = 0;
  const Segment* first = nullptr;
  for (const Segment& s : m_file.segments) {
    if (s.type != k_segment_load) continue;
    if (first == nullptr) first = &s;
    memory_end = std::max(memory_end, s.address + s.memory_size);
  }
  const std::uint64_t align = alignment();
  if (!move_headers || !m_file.interpreter) {
    const std::uint64_t offset = round_up(m_bytes.size(), 16);
    return {offset, round_up(memory_end, align) + offset % align};
  }
  if (first->address < first->offset) throw Error("the address of its first segment is below its file offset");
  const std::uint64_t bias = first->address - first->offset;
  if (bias % align != 0)
    throw Error(fmt::format(
        "its first segment's address and offset differ by {:#x}, which is not a multiple of the page size", bias));
  const std::uint64_t offset = round_up(std::max(memory_end - bias, m_bytes.size()), align);
  if (offset - m_bytes.size() > k_most_zeros)
    throw Error(
        fmt::format("the program has no room for another program header, and moving the table so that all kernels find "
                    "it would need {} bytes of padding",
                    offset - m_bytes.size()));
  return {offset, offset + bias};
}

template void Editor<Elf32Le>::place_new_segment();
template void Editor<Elf32Be>::place_new_segment();
template void Editor<Elf64Le>::place_new_segment();
template void Editor<Elf64Be>::place_new_segment();

}  // namespace wheelsmith::elf
