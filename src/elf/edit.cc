#include "elf/edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "elf/edit_refusal.h"
#include "elf/edit_strings.h"
#include "elf/editor.h"
#include "elf/prove.h"

// How to fit a longer run path into a file that has no room for it.
//
// In a linked file, code addresses its constants by relative distance. So nothing that code may refer to is ever moved,
// neither in the file nor in memory. The loader finds the edited parts through pointers:
//
//   program headers ── PT_DYNAMIC ── .dynamic: tags ── DT_STRTAB ── .dynstr: strings
//
// and only these three (the program headers, .dynamic, .dynstr) can move. The options, in order:
//
//   1. in place: the string exists (often as the end of another one), or fits into bytes that nothing points to, or
//      into the padding behind .dynstr; the tag takes one of the spare DT_NULLs that GNU ld leaves;
//   2. behind a segment: GNU ld fills up to the page with zeros, and a segment that ends with the file (our own of an
//      earlier edit) just grows; .dynstr moves there whole, no program header is added;
//   3. in a new segment at the end of the file:  [program headers] [.dynamic] [.dynstr]  each only if it must move. Its
//      program header takes the place of a PT_NULL or the bytes behind the table where they are free; else the whole
//      table moves, with one PT_NULL to spare for the next time.
//
// The new segment has the highest address, so that the LOADs stay in order. Old bytes stay in place. Kernels before
// 5.18 tell a program that its headers are at (first segment's address + their offset): for programs, which have an
// interpreter, a moved table must be where that is true, and the file gets a hole as large as its zeros in memory.

namespace wheelsmith::elf {

namespace {

constexpr std::uint64_t k_spare_tags = 4;  // in a .dynamic that had to move

}  // namespace

template <class F>
Edited Editor<F>::run() {
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

template <class F>
void Editor<F>::read() {
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
  // Only the loader writes there; any other writer would now write to the wrong address.
  if (!m_file.relocations_in(m_old_dynamic.address, m_old_dynamic.address + m_dynamic_size).empty())
    throw Error("cannot edit the dynamic tags: a relocation writes into them");
}

// Without section headers the end of the strings is unknown, so only replaced strings are overwritten; if the file has
// unreadable tables, not even those.
template <class F>
void Editor<F>::make_strings() {
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

// Nothing of the old list may remain after its last DT_NULL: some readers use the section's size.
template <class F>
bool Editor<F>::tags_fit_in_place() const {
  const std::uint64_t ended = (m_file.dynamic.tags.size() + 1) * sizeof(RawTag);
  if (tags_size() > m_dynamic_size) return false;
  if (tags_size() <= ended) return true;
  const Bytes spare = m_bytes.slice(m_old_dynamic.offset + ended, tags_size() - ended);
  return all_zero(spare);
}

template <class F>
std::optional<std::size_t> Editor<F>::load_of(const FileRange& place, std::uint64_t size) const {
  for (std::size_t i = 0; i < m_file.segments.size(); ++i) {
    const Segment& s = m_file.segments[i];
    if (s.type == k_segment_load && place.address >= s.address &&
        place.address - s.address == place.offset - s.offset && place.offset - s.offset <= s.file_size &&
        size <= s.file_size - (place.offset - s.offset))
      return i;
  }
  return {};
}

// A segment at the end of the file does not grow if a new one follows it; the strings then move along.
template <class F>
bool Editor<F>::strings_fit_in_place() {
  if (m_table.size() <= m_strings_size) return true;
  const std::uint64_t more = m_table.size() - m_strings_size;
  const std::size_t load = load_of(m_old_strings, m_strings_size).value();
  const Segment& segment = m_file.segments[load];
  const std::uint64_t end = m_old_strings.offset + m_strings_size;
  if (end == segment.offset + segment.file_size)
    return !m_new_segment && (segment.flags & k_executable) == 0 && m_rooms.grow(load, more);
  return load_of(m_old_strings, m_table.size()) && m_rooms.free_from(end, more, true) >= more;
}

template <class F>
std::optional<FileRange> Editor<F>::take_for_strings() {
  if (const auto place = m_rooms.take(k_readable, m_table.size(), 1)) return place;
  return m_rooms.take(k_readable | k_writable, m_table.size(), 1);
}

template <class F>
void Editor<F>::find_places() {
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

namespace {

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
    throw Error(fmt::format("cannot be edited safely: {}{}", problems.front(),
                            problems.size() > 1 ? fmt::format(" (and {} more)", problems.size() - 1) : ""));
  return edited;
}

}  // namespace wheelsmith::elf
