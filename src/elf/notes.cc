// Notes are small records for tools. Two matter here: the build id, and the properties, one of which gives the x86
// level the code needs (bit 0: baseline, 1: v2, 2: v3, 3: v4).

#include <fmt/format.h>

#include <algorithm>

#include "elf/parser.h"

namespace wheelsmith::elf {

namespace {

constexpr std::uint32_t k_note_build_id = 3;
constexpr std::uint32_t k_note_property = 5;
constexpr std::uint64_t k_longest_build_id = 64;

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

std::string to_hex(Bytes bytes) {
  std::string text;
  for (std::uint64_t i = 0; i < bytes.size(); ++i) text += fmt::format("{:02x}", bytes.u8(i));
  return text;
}

}  // namespace

// Object files have notes in sections only, and old editors moved the build id without updating the segment. Hostile
// segments may all cover the same bytes, so at most twice the file size is read.
template <class F>
void Parser<F>::read_notes() {
  constexpr std::uint32_t k_section_note = 7;
  std::uint64_t left = 2 * m_file.m_bytes.size();
  const auto read = [&](std::uint64_t offset, std::uint64_t size, std::uint64_t align) {
    const Bytes notes = m_file.m_bytes.clamp(offset, size);
    if (notes.size() < size || size > left) {
      problem(fmt::format("the notes ({} bytes at offset {:#x}) are outside the file or overlap others", size, offset));
      return;
    }
    left -= size;
    read_note_segment(notes, align == 8 ? 8 : 4);
  };
  for (const Segment& segment : m_file.segments) {
    if (segment.type == k_segment_note) read(segment.offset, segment.file_size, segment.align);
  }
  if (m_file.build_id) return;
  for (const Section& section : m_file.sections) {
    if (section.type == k_section_note) read(section.offset, section.size, section.align);
  }
}

template <class F>
void Parser<F>::read_note_segment(Bytes notes, std::uint64_t align) {
  using NoteHeader = typename F::NoteHeader;
  std::uint64_t at = 0;
  while (notes.contains(at, sizeof(NoteHeader))) {
    const auto header = notes.get<NoteHeader>(at);
    const std::uint64_t description_at = round_up(at + sizeof header + header.owner_size, align);
    if (!notes.contains(description_at, header.description_size)) {
      problem(fmt::format("a note at offset {:#x} exceeds its segment",
                          static_cast<std::uint64_t>(notes.data() - m_file.m_bytes.data()) + at));
      return;
    }
    const Bytes description = notes.slice(description_at, header.description_size);
    if (notes.clamp(at + sizeof header, header.owner_size).text() == std::string_view("GNU", 4)) {
      const bool is_build_id = header.type == k_note_build_id && description.size() <= k_longest_build_id;
      if (is_build_id && !description.empty() && !m_file.build_id) m_file.build_id = to_hex(description);
      if (header.type == k_note_property) read_property(description);
    }
    at = round_up(description_at + header.description_size, align);
  }
}

template <class F>
void Parser<F>::read_property(Bytes description) {
  using U32 = typename F::U32;
  constexpr std::uint32_t k_x86_isa_needed = 0xc0008002;
  std::uint64_t at = 0;
  while (description.contains(at, 8)) {
    const std::uint32_t type = description.get<U32>(at);
    const std::uint64_t size = description.get<U32>(at + 4);
    if (type == k_x86_isa_needed && size >= 4 && description.contains(at + 8, 4)) {
      m_file.x86_isa_needed |= description.get<U32>(at + 8);
    }
    at = round_up(at + 8 + size, sizeof(typename F::Word));
  }
}

template void Parser<Elf32Le>::read_notes();
template void Parser<Elf32Be>::read_notes();
template void Parser<Elf64Le>::read_notes();
template void Parser<Elf64Be>::read_notes();

}  // namespace wheelsmith::elf
