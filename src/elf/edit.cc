#include "elf/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "elf/edit_overlay.h"
#include "elf/edit_refusal.h"
#include "elf/edit_room.h"
#include "elf/edit_strings.h"
#include "elf/edit_tags.h"
#include "elf/edit_versions.h"
#include "elf/elf_format.h"
#include "elf/prove.h"

// How a longer run path gets into a file that has no room for it.
//
// A linked file is a net of distances: code finds its constants by how far away they are. So nothing that code may
// refer to is ever moved, neither in the file nor in memory. What an edit changes is found by the loader through
// pointers:
//
//   program headers ── PT_DYNAMIC ── .dynamic: tags ── DT_STRTAB ── .dynstr: strings
//
// and only these three (the program headers, .dynamic, .dynstr) can get a new place. In this order:
//
//   1. in place: the string is there (often as the end of another one), or fits into bytes that nobody points to, or
//      into the padding behind .dynstr; the tag takes one of the spare DT_NULLs that GNU ld leaves;
//   2. behind a segment: GNU ld fills up to the page with zeros, and a segment that ends with the file (our own of an
//      earlier edit) just grows; .dynstr moves there whole, no program header is added;
//   3. in a new segment at the end of the file:  [program headers] [.dynamic] [.dynstr]  each only if it must move. Its
//      program header takes the place of a PT_NULL or the bytes behind the table where they are free; else the whole
//      table moves, with one PT_NULL to spare for the next time.
//
// The new segment has the highest address, so that the LOADs stay in order. Old bytes stay where they are. Kernels
// before 5.18 tell a program that its headers are at (first segment's address + their offset): for programs, which have
// an interpreter, a moved table must stand where that is true, and the file gets a hole as large as its zeros in
// memory.

namespace wheelsmith::elf {

namespace {

constexpr std::uint64_t k_most_zeros = 256U << 20;  // that a file may get for kernels before 5.18
constexpr std::uint64_t k_spare_tags = 4;           // in a .dynamic that had to move

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

template <class F>
class Editor {
 public:
  Editor(const ElfFile& file, const Edit& edit)
      : m_file(file), m_bytes(file.bytes()), m_edit(edit), m_rooms(file), m_overlay(file.bytes()) {}

  Edited run() {
    const VersionFields versions = version_fields(m_file);
    m_tags = edit_tags(m_file, versions, m_edit);
    if (!m_tags.changed) return {.patches = {}, .tail = {}, .tail_offset = 0, .size = m_bytes.size(), .changed = false};
    read();
    make_strings();
    find_places();
    if (m_new_segment) place_new_segment();
    put_versions();
    put_strings();
    put_tags();
    put_program_headers();
    put_sections();
    return m_overlay.finish();
  }

 private:
  using Header = typename F::Header;
  using ProgramHeader = typename F::ProgramHeader;
  using SectionHeader = typename F::SectionHeader;
  using RawTag = typename F::Tag;
  using RawSymbol = typename F::Symbol;
  using Word = typename F::Word;

  static Word word(std::uint64_t value) {
    if (!F::is_64bit && value > 0xffffffffU) throw Error("the edited file would be too large for its 32 bit numbers");
    if constexpr (F::is_64bit) {
      return value;
    } else {
      return static_cast<std::uint32_t>(value);
    }
  }

  void read() {
    m_header = m_bytes.get<Header>(0);
    for (std::uint64_t i = 0; i < m_file.program_header_count; ++i)
      m_headers.push_back(m_bytes.get<ProgramHeader>(m_file.program_headers_offset + i * sizeof(ProgramHeader)));
    for (std::size_t i = 0; i < m_file.segments.size(); ++i) {
      if (m_file.segments[i].type == k_segment_dynamic) m_dynamic = i;
    }
    const Segment& dynamic = m_file.segments[m_dynamic];
    m_old_dynamic = m_new_dynamic = {dynamic.offset, dynamic.address};
    m_dynamic_size = dynamic.file_size / sizeof(RawTag) * sizeof(RawTag);
    m_old_strings.address = *m_file.dynamic.value(k_tag_strings);
    m_strings_size = *m_file.dynamic.value(k_tag_strings_size);
    m_old_strings.offset = *m_file.file_offset(m_old_strings.address, m_strings_size);
    m_new_strings = m_old_strings;
    constexpr std::uint32_t k_section_strtab = 3, k_section_dynamic = 6;
    for (std::size_t i = 0; i < m_file.sections.size(); ++i) {
      const Section& section = m_file.sections[i];
      if (section.type == k_section_strtab && section.address == m_old_strings.address &&
          section.offset == m_old_strings.offset && section.size == m_strings_size)
        m_strings_section = i;
      if (section.type == k_section_dynamic && section.address == m_old_dynamic.address) m_dynamic_section = i;
    }
    // Nobody but the loader itself writes there; if somebody did, its places would be others now.
    if (!m_file.relocations_in(m_old_dynamic.address, m_old_dynamic.address + m_dynamic_size).empty())
      throw Error("a relocation writes into the dynamic tags, so they are not edited");
  }

  // Without section headers nobody says where the strings end and something else starts, so only the strings that are
  // replaced are written over; where the file has tables that could not be read, not even those.
  void make_strings() {
    using Reuse = DynamicStrings::Reuse;
    const Reuse reuse = !m_file.problems.empty() ? Reuse::nothing
                        : m_strings_section != 0 ? Reuse::unreferenced
                                                 : Reuse::released;
    const Bytes table = m_bytes.slice(m_old_strings.offset, m_strings_size);
    DynamicStrings strings(table, reuse);
    for (const Symbol& symbol : m_file.symbols) {
      if (symbol.name.data() != nullptr)
        strings.keep(static_cast<std::uint64_t>(symbol.name.data() - table.text().data()));
    }
    for (const std::uint64_t offset : m_tags.kept) strings.keep(offset);
    for (const std::uint64_t offset : m_tags.released) strings.release(offset);
    std::vector<std::string> texts;
    for (const EditedTag& tag : m_tags.tags) {
      if (tag.text) texts.push_back(*tag.text);
    }
    for (const EditedVersions& version : m_tags.versions) texts.push_back(version.text);
    const std::vector<std::uint64_t> offsets = strings.add(texts);
    auto next = offsets.begin();
    for (EditedTag& tag : m_tags.tags) {
      if (tag.text) tag.value = *next++;
    }
    m_version_strings.assign(next, offsets.end());
    m_table = strings.table();
  }

  [[nodiscard]] std::uint64_t tags_size() const { return (m_tags.tags.size() + 1) * sizeof(RawTag); }

  // Behind its last DT_NULL nothing of the old list may be left: some readers go by the section's size.
  [[nodiscard]] bool tags_fit_in_place() const {
    const std::uint64_t ended = (m_file.dynamic.tags.size() + 1) * sizeof(RawTag);
    if (tags_size() > m_dynamic_size) return false;
    if (tags_size() <= ended) return true;
    const Bytes spare = m_bytes.slice(m_old_dynamic.offset + ended, tags_size() - ended);
    return std::all_of(spare.data(), spare.data() + spare.size(), [](std::uint8_t byte) { return byte == 0; });
  }

  [[nodiscard]] std::optional<std::size_t> load_of(const Place& place, std::uint64_t size) const {
    for (std::size_t i = 0; i < m_file.segments.size(); ++i) {
      const Segment& s = m_file.segments[i];
      if (s.type == k_segment_load && place.address >= s.address &&
          place.address - s.address == place.offset - s.offset && place.offset - s.offset <= s.file_size &&
          size <= s.file_size - (place.offset - s.offset))
        return i;
    }
    return {};
  }

  bool strings_fit_in_place() {
    if (m_table.size() <= m_strings_size) return true;
    const std::uint64_t more = m_table.size() - m_strings_size;
    const std::size_t load = load_of(m_old_strings, m_strings_size).value();
    const Segment& segment = m_file.segments[load];
    const std::uint64_t end = m_old_strings.offset + m_strings_size;
    if (end == segment.offset + segment.file_size)
      return (segment.flags & k_executable) == 0 && m_rooms.grow(load, more);
    return load_of(m_old_strings, m_table.size()) && m_rooms.is_free(end, more, true);
  }

  void find_places() {
    if (!tags_fit_in_place()) {
      m_dynamic_size = tags_size() + k_spare_tags * sizeof(RawTag);
      const auto place = m_rooms.take(k_readable | k_writable, m_dynamic_size, 16);
      if (place) m_new_dynamic = *place;
      m_new_segment = m_segment_has_tags = !place;
    }
    if (strings_fit_in_place()) return;
    const auto place = m_new_segment ? std::nullopt : take_for_strings();
    if (place) m_new_strings = *place;
    m_new_segment |= m_segment_has_strings = !place;
  }

  std::optional<Place> take_for_strings() {
    if (const auto place = m_rooms.take(k_readable, m_table.size(), 1)) return place;
    return m_rooms.take(k_readable | k_writable, m_table.size(), 1);
  }

  // --- the new segment and its program header -------------------------------------------------------------------

  [[nodiscard]] bool headers_can_grow_in_place() const {
    const std::uint64_t size = m_headers.size() * sizeof(ProgramHeader);
    const std::uint64_t end = m_file.program_headers_offset + size;
    const std::uint64_t grown = size + sizeof(ProgramHeader);
    bool is_mapped = false, fits = false, has_spare = false;
    for (const Segment& s : m_file.segments) {
      if (s.type == k_segment_phdr) {
        is_mapped = true;
        // Whoever moved the table may have left room for more entries, and counted it in.
        has_spare = s.offset == m_file.program_headers_offset && s.file_size >= grown;
      }
      if (s.type != k_segment_load || m_file.program_headers_offset < s.offset) continue;
      const std::uint64_t before = m_file.program_headers_offset - s.offset;
      is_mapped |= before < s.file_size;
      fits |= before <= s.file_size && grown <= s.file_size - before;
    }
    if (is_mapped && !fits) return false;
    if (m_rooms.is_free(end, sizeof(ProgramHeader), true)) return m_bytes.contains(end, sizeof(ProgramHeader));
    if (!has_spare || !m_bytes.contains(end, sizeof(ProgramHeader))) return false;
    const Bytes spare = m_bytes.slice(end, sizeof(ProgramHeader));
    return m_file.sections.empty() &&
           std::all_of(spare.data(), spare.data() + spare.size(), [](std::uint8_t byte) { return byte == 0; });
  }

  void place_new_segment() {
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
    const Place place = choose_place(move_headers);
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

  [[nodiscard]] std::uint64_t alignment() const {
    std::uint64_t most = 0x1000;
    for (const Segment& s : m_file.segments) {
      if (s.type == k_segment_load) most = std::max(most, s.align);
    }
    return std::min(most, Rooms::page(m_file));
  }

  Place choose_place(bool move_headers) {
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
    if (first->address < first->offset) throw Error("its first segment lies below its offset in the file");
    const std::uint64_t bias = first->address - first->offset;
    if (bias % align != 0)
      throw Error(
          fmt::format("its first segment's address and offset differ by {:#x}, which is no multiple of a page", bias));
    const std::uint64_t offset = round_up(std::max(memory_end - bias, m_bytes.size()), align);
    if (offset - m_bytes.size() > k_most_zeros)
      throw Error(
          fmt::format("the program has no room for another program header, and a new place that all kernels "
                      "find would need {} bytes of zeros in the file",
                      offset - m_bytes.size()));
    return {offset, offset + bias};
  }

  // --- writing ---------------------------------------------------------------------------------------------------

  void put_versions() {
    for (std::size_t i = 0; i < m_tags.versions.size(); ++i) {
      const EditedVersions& version = m_tags.versions[i];
      m_overlay.put_struct(version.offset, typename F::U32(static_cast<std::uint32_t>(m_version_strings[i])));
      if (version.hash_offset != 0) m_overlay.put_struct(version.hash_offset, typename F::U32(sysv_hash(version.text)));
    }
  }

  void put_strings() {
    if (m_table.size() > 0xffffffffU) throw Error("the dynamic strings would be larger than 4 GB");
    m_overlay.put(m_new_strings.offset, m_table);
  }

  void put_tags() {
    std::string out;
    for (const EditedTag& tag : m_tags.tags) {
      RawTag raw;
      raw.tag = word(tag.tag);
      raw.value = word(tag.tag == k_tag_strings        ? m_new_strings.address
                       : tag.tag == k_tag_strings_size ? m_table.size()
                                                       : tag.value);
      out.append(reinterpret_cast<const char*>(&raw), sizeof raw);
    }
    // In place: the rest of the old list becomes DT_NULL.
    const std::uint64_t old_size = (m_file.dynamic.tags.size() + 1) * sizeof(RawTag);
    const bool moved = m_new_dynamic.address != m_old_dynamic.address;
    out.resize(moved ? m_dynamic_size : std::max(tags_size(), std::min(old_size, m_dynamic_size)));
    m_overlay.put(m_new_dynamic.offset, out);
    if (!moved) return;
    const auto dynamic = std::find_if(m_headers.begin(), m_headers.end(),
                                      [](const ProgramHeader& header) { return header.type == k_segment_dynamic; });
    dynamic->offset = word(m_new_dynamic.offset);
    dynamic->address = dynamic->physical_address = word(m_new_dynamic.address);
    dynamic->file_size = dynamic->memory_size = word(m_dynamic_size);
  }

  void put_program_headers() {
    for (const auto& [index, more] : m_rooms.grown()) {
      const Segment& grown = m_file.segments[index];
      for (ProgramHeader& header : m_headers) {
        if (header.type != k_segment_load || header.address != grown.address) continue;
        header.file_size = header.memory_size = word(grown.file_size + more);
      }
    }
    const std::uint64_t size = m_headers.size() * sizeof(ProgramHeader);
    const std::uint64_t offset = m_moved_headers ? m_moved_headers->offset : m_file.program_headers_offset;
    for (ProgramHeader& header : m_headers) {
      if (header.type != k_segment_phdr) continue;
      if (m_moved_headers) {
        header.offset = word(offset);
        header.address = header.physical_address = word(m_moved_headers->address);
        header.file_size = header.memory_size = word(size);
      } else if (header.file_size < size) {
        header.file_size = header.memory_size = word(size);
      }
    }
    std::string out(reinterpret_cast<const char*>(m_headers.data()), size);
    m_overlay.put(offset, std::move(out));
    put_header_count(offset);
  }

  void put_header_count(std::uint64_t offset) {
    Header header = m_header;
    header.program_headers = word(offset);
    if (m_header.program_header_count == 0xffff) {
      auto first = m_bytes.get<SectionHeader>(m_file.section_headers_offset);
      first.info = static_cast<std::uint32_t>(m_headers.size());
      m_overlay.put_struct(m_file.section_headers_offset, first);
    } else if (m_headers.size() >= 0xffff) {
      throw Error("it has as many program headers as there can be");
    } else {
      header.program_header_count = static_cast<std::uint16_t>(m_headers.size());
    }
    m_overlay.put_struct(0, header);
  }

  // Section headers are for tools; the loader does not look at them. They keep their order and tell of the new places.
  void put_sections() {
    const auto put = [&](std::size_t index, const Place& old, const Place& place, std::uint64_t size) {
      if (index == 0) return;
      const std::uint64_t at = m_file.section_headers_offset + index * sizeof(SectionHeader);
      auto header = m_bytes.get<SectionHeader>(at);
      header.address = word(place.address);
      header.offset = word(place.offset);
      if (size != 0) header.size = word(size);
      m_overlay.put_struct(at, header);
      if (old.address != place.address) put_symbols(index, old, place);
    };
    const bool moved = m_new_dynamic.address != m_old_dynamic.address;
    put(m_strings_section, m_old_strings, m_new_strings, m_table.size());
    put(m_dynamic_section, m_old_dynamic, m_new_dynamic, moved ? m_dynamic_size : 0);
  }

  // _DYNAMIC and the section's own symbol in the table that debuggers read.
  void put_symbols(std::size_t section, const Place& old, const Place& place) {
    for (const Section& table : m_file.sections) {
      if (table.type != k_section_symtab || !m_bytes.contains(table.offset, table.size)) continue;
      for (std::uint64_t at = table.offset; at + sizeof(RawSymbol) <= table.offset + table.size;
           at += sizeof(RawSymbol)) {
        auto symbol = m_bytes.get<RawSymbol>(at);
        if (symbol.section != section || symbol.value != old.address) continue;
        symbol.value = word(place.address);
        m_overlay.put_struct(at, symbol);
      }
    }
  }

  const ElfFile& m_file;
  Bytes m_bytes;
  const Edit& m_edit;
  Rooms m_rooms;
  Overlay m_overlay;
  TagEdit m_tags;
  Header m_header;
  std::vector<ProgramHeader> m_headers;
  std::size_t m_dynamic = 0;                                 // the dynamic segment
  std::size_t m_strings_section = 0, m_dynamic_section = 0;  // 0: no header tells of it
  Place m_old_dynamic, m_new_dynamic, m_old_strings, m_new_strings;
  std::uint64_t m_dynamic_size = 0, m_strings_size = 0;
  std::string m_table;
  std::vector<std::uint64_t> m_version_strings;  // of m_tags.versions
  bool m_new_segment = false, m_segment_has_tags = false, m_segment_has_strings = false;
  std::optional<Place> m_moved_headers;
};

Edited edit_any(const ElfFile& file, const Edit& edit) {
  const bool little = file.endian == Endian::little;
  if (file.is_64bit) return little ? Editor<Elf64Le>(file, edit).run() : Editor<Elf64Be>(file, edit).run();
  return little ? Editor<Elf32Le>(file, edit).run() : Editor<Elf32Be>(file, edit).run();
}

}  // namespace

Edited edit(Bytes original, const Edit& edit) {
  const ElfFile file = ElfFile::parse(original);
  if (const auto refusal = edit_refusal(file)) throw Error(*refusal);
  Edited edited = edit_any(file, edit);
  if (!edited.changed) return edited;
  const std::vector<std::string> problems = prove_edit(file, edited);
  if (!problems.empty())
    throw Error(fmt::format("it cannot be edited safely: {}{}", problems.front(),
                            problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : ""));
  return edited;
}

}  // namespace wheelsmith::elf
