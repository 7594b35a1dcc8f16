#include <algorithm>

#include "elf/edit_versions.h"
#include "elf/editor.h"

// Writes the changed bytes once the layout is known.

namespace wheelsmith::elf {

template <class F>
void Editor<F>::put_versions() {
  for (std::size_t i = 0; i < m_tags.versions.size(); ++i) {
    const EditedVersions& version = m_tags.versions[i];
    m_overlay.put_struct(version.offset, typename F::U32(static_cast<std::uint32_t>(m_version_strings[i])));
    if (version.hash_offset != 0) m_overlay.put_struct(version.hash_offset, typename F::U32(sysv_hash(version.text)));
  }
}

template <class F>
void Editor<F>::put_strings() {
  if (m_table.size() > 0xffffffffU) throw Error("the dynamic strings would be larger than 4 GB");
  m_overlay.put(m_new_strings.offset, m_table);
}

template <class F>
void Editor<F>::put_tags() {
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

template <class F>
void Editor<F>::put_program_headers() {
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

template <class F>
void Editor<F>::put_header_count(std::uint64_t offset) {
  Header header = m_header;
  header.program_headers = word(offset);
  if (m_header.program_header_count == 0xffff) {
    auto first = m_bytes.get<SectionHeader>(m_file.section_headers_offset);
    first.info = static_cast<std::uint32_t>(m_headers.size());
    m_overlay.put_struct(m_file.section_headers_offset, first);
  } else if (m_headers.size() >= 0xffff) {
    throw Error("it already has the maximum number of program headers");
  } else {
    header.program_header_count = static_cast<std::uint16_t>(m_headers.size());
  }
  m_overlay.put_struct(0, header);
}

// Section headers are for tools; the loader ignores them. They keep their order and get the new locations.
template <class F>
void Editor<F>::put_sections() {
  const auto put = [&](std::size_t index, const FileRange& old, const FileRange& place, std::uint64_t size) {
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
template <class F>
void Editor<F>::put_symbols(std::size_t section, const FileRange& old, const FileRange& place) {
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

template void Editor<Elf32Le>::put_versions();
template void Editor<Elf32Be>::put_versions();
template void Editor<Elf64Le>::put_versions();
template void Editor<Elf64Be>::put_versions();
template void Editor<Elf32Le>::put_strings();
template void Editor<Elf32Be>::put_strings();
template void Editor<Elf64Le>::put_strings();
template void Editor<Elf64Be>::put_strings();
template void Editor<Elf32Le>::put_tags();
template void Editor<Elf32Be>::put_tags();
template void Editor<Elf64Le>::put_tags();
template void Editor<Elf64Be>::put_tags();
template void Editor<Elf32Le>::put_program_headers();
template void Editor<Elf32Be>::put_program_headers();
template void Editor<Elf64Le>::put_program_headers();
template void Editor<Elf64Be>::put_program_headers();
template void Editor<Elf32Le>::put_sections();
template void Editor<Elf32Be>::put_sections();
template void Editor<Elf64Le>::put_sections();
template void Editor<Elf64Be>::put_sections();

}  // namespace wheelsmith::elf
