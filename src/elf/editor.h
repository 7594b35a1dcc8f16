#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "elf/edit_overlay.h"
#include "elf/edit_room.h"
#include "elf/edit_tags.h"
#include "elf/elf_format.h"

// The implementation of edit(), shared by the files that each do one part.

namespace wheelsmith::elf {

template <class F>
class Editor {
 public:
  Editor(const ElfFile& file, const Edit& edit)
      : m_file(file), m_bytes(file.bytes()), m_edit(edit), m_rooms(file), m_overlay(file.bytes()) {}

  Edited run();

 private:
  using Header = typename F::Header;
  using ProgramHeader = typename F::ProgramHeader;
  using SectionHeader = typename F::SectionHeader;
  using RawTag = typename F::Tag;
  using RawSymbol = typename F::Symbol;
  using Word = typename F::Word;

  static Word word(std::uint64_t value) {
    if constexpr (F::is_64bit) {
      return value;
    } else {
      if (value > 0xffffffffU) throw Error("the edited file would be too large for 32-bit ELF");
      return static_cast<std::uint32_t>(value);
    }
  }
  static bool all_zero(Bytes bytes) { return bytes.text().find_first_not_of('\0') == std::string_view::npos; }
  static std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
    return (value + align - 1) / align * align;
  }

  // edit.cc: what changes, and where there is room
  void read();
  void make_strings();
  [[nodiscard]] std::uint64_t tags_size() const { return (m_tags.tags.size() + 1) * sizeof(RawTag); }
  [[nodiscard]] bool tags_fit_in_place() const;
  [[nodiscard]] std::optional<std::size_t> load_of(const FileRange& place, std::uint64_t size) const;
  bool strings_fit_in_place();
  std::optional<FileRange> take_for_strings();
  void find_places();

  // edit_segment.cc: the new segment and its program header
  [[nodiscard]] bool headers_can_grow_in_place() const;
  void place_new_segment();
  [[nodiscard]] std::uint64_t alignment() const;
  FileRange choose_place(bool move_headers);

  // edit_write.cc: the changed bytes
  void put_versions();
  void put_strings();
  void put_tags();
  void put_program_headers();
  void put_header_count(std::uint64_t offset);
  void put_sections();
  void put_symbols(std::size_t section, const FileRange& old, const FileRange& place);

  const ElfFile& m_file;
  Bytes m_bytes;
  const Edit& m_edit;
  Rooms m_rooms;
  Overlay m_overlay;
  TagEdit m_tags;
  Header m_header;
  std::vector<ProgramHeader> m_headers;
  std::size_t m_dynamic = 0;                                 // the dynamic segment
  std::size_t m_strings_section = 0, m_dynamic_section = 0;  // 0: no such header
  FileRange m_old_dynamic, m_new_dynamic, m_old_strings, m_new_strings;
  std::uint64_t m_dynamic_size = 0, m_strings_size = 0;
  std::string m_table;
  std::vector<std::uint64_t> m_version_strings;  // of m_tags.versions
  bool m_new_segment = false, m_segment_has_tags = false, m_segment_has_strings = false;
  std::optional<FileRange> m_moved_headers;
};

}  // namespace wheelsmith::elf
