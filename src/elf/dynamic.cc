// The dynamic segment, which the loader reads and which is therefore authoritative. Its tags hold numbers, addresses,
// and offsets into one string table (DT_STRTAB); the addresses are virtual and are mapped to file bytes through the
// LOAD segments.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "elf/parser.h"

namespace wheelsmith::elf {

// The longest run paths of real files have a few thousand bytes, the longest NEEDED lists about fifty names. More would
// make an unreadable report, and in a run path of ":" alone every byte costs a string.
constexpr std::size_t k_longest_string = 65536;
constexpr std::size_t k_most_needed = 4096;

std::optional<std::uint64_t> Dynamic::value(std::uint64_t tag) const {
  const auto found = std::find_if(tags.rbegin(), tags.rend(), [&](const DynamicTag& t) { return t.tag == tag; });
  if (found == tags.rend()) return {};
  return found->value;
}

// The loader uses the address, most tools the offset. If the address is not mapped (device code, detached debug
// information), only the offset is left.
template <class F>
Bytes Parser<F>::dynamic_bytes(const Segment& segment) {
  const Bytes mapped = m_file.mapped_from(segment.address).clamp(0, segment.file_size);
  if (mapped.size() == segment.file_size) return mapped;
  if (!m_file.m_bytes.contains(segment.offset, segment.file_size)) {
    throw Error(fmt::format("the dynamic segment ({} bytes at offset {:#x}) is outside the file", segment.file_size,
                            segment.offset));
  }
  return m_file.m_bytes.slice(segment.offset, segment.file_size);
}

template <class F>
void Parser<F>::read_dynamic() {
  const auto segment = std::find_if(m_file.segments.begin(), m_file.segments.end(),
                                    [](const Segment& s) { return s.type == k_segment_dynamic; });
  if (segment == m_file.segments.end() || segment->file_size == 0) return;
  Cursor cursor(dynamic_bytes(*segment));
  m_file.has_dynamic = true;
  bool ended = false;
  while (!ended && cursor.left() >= sizeof(typename F::Tag)) {
    const auto tag = cursor.take<typename F::Tag>();
    ended = tag.tag == 0;
    if (!ended) m_file.dynamic.tags.push_back({tag.tag, tag.value});
  }
  if (!ended) problem("the dynamic segment does not end with DT_NULL");
  read_dynamic_strings();
  for (const DynamicTag& tag : m_file.dynamic.tags) apply_tag(tag);
  read_symbols();
  read_version_needs();
  read_version_definitions();
  index_versions();
  read_relocation_tables();
}

template <class F>
void Parser<F>::read_dynamic_strings() {
  const auto address = m_file.dynamic.value(k_tag_strings);
  if (!address) return;
  const Bytes mapped = m_file.mapped_from(*address);
  if (mapped.empty()) throw Error(fmt::format("the dynamic strings at address {:#x} are not in any segment", *address));
  const std::uint64_t size = m_file.dynamic.value(k_tag_strings_size).value_or(mapped.size());
  if (size > mapped.size()) {
    problem(fmt::format("the dynamic strings ({} bytes at address {:#x}) exceed their segment", size, *address));
  }
  m_strings = Strings(mapped.clamp(0, size));
}

// The loader uses whatever bytes are at an invalid string offset. A wrong name or run path is a finding about a file
// that may still load, so the rest of the file is read; without the NEEDED names nothing could be reported.
template <class F>
std::optional<std::string_view> Parser<F>::optional_string(const DynamicTag& tag, const char* name) {
  if (m_strings.at(tag.value)) return dynamic_string(tag);
  problem(fmt::format("{} points to a string at {:#x} that is not terminated within the {} bytes of dynamic strings",
                      name, tag.value, m_strings.size()));
  return {};
}

template <class F>
std::string_view Parser<F>::dynamic_string(const DynamicTag& tag) {
  const auto text = m_strings.at(tag.value);
  if (!text) {
    throw Error(fmt::format("the dynamic tag {} points to a string at {:#x}, outside the {} bytes of dynamic strings",
                            tag.tag, tag.value, m_strings.size()));
  }
  if (text->size() > k_longest_string) {
    throw Error(fmt::format("the dynamic tag {} points to a string of {} bytes at {:#x}; the limit is {}", tag.tag,
                            text->size(), tag.value, k_longest_string));
  }
  return *text;
}

template <class F>
void Parser<F>::apply_tag(const DynamicTag& tag) {
  constexpr std::uint64_t k_flag_text_relocations = 4, k_flag_bind_now = 8, k_flag_static_tls = 0x10;
  constexpr std::uint64_t k_flag_1_now = 1, k_flag_1_pie = 0x08000000;
  Dynamic& dynamic = m_file.dynamic;
  switch (tag.tag) {
    case k_tag_needed:
      if (dynamic.needed.size() == k_most_needed)
        throw Error(fmt::format("it has more than {} NEEDED libraries", k_most_needed));
      dynamic.needed.push_back(dynamic_string(tag));
      break;
    case k_tag_soname: dynamic.soname = optional_string(tag, "DT_SONAME"); break;
    case k_tag_rpath: dynamic.rpath = optional_string(tag, "DT_RPATH"); break;
    case k_tag_runpath: dynamic.runpath = optional_string(tag, "DT_RUNPATH"); break;
    case k_tag_text_relocations: dynamic.text_relocations = true; break;
    case k_tag_bind_now: dynamic.bind_now = true; break;
    case k_tag_flags:
      dynamic.text_relocations |= (tag.value & k_flag_text_relocations) != 0;
      dynamic.bind_now |= (tag.value & k_flag_bind_now) != 0;
      dynamic.static_tls |= (tag.value & k_flag_static_tls) != 0;
      break;
    case k_tag_flags_1:
      dynamic.bind_now |= (tag.value & k_flag_1_now) != 0;
      dynamic.pie |= (tag.value & k_flag_1_pie) != 0;
      break;
    default: break;
  }
}

template <class F>
void Parser<F>::read_relocation_tables() {
  add_relocation_table(k_tag_rela, k_tag_rela_size, Kind::rela);
  add_relocation_table(k_tag_rel, k_tag_rel_size, Kind::rel);
  add_relocation_table(k_tag_relr, k_tag_relr_size, Kind::relr);
  const bool plt_is_rel = m_file.dynamic.value(k_tag_plt_kind) == k_tag_rel;
  add_relocation_table(k_tag_plt, k_tag_plt_size, plt_is_rel ? Kind::rel : Kind::rela);
}

// Some linkers include the PLT's entries, at the end, in the main table's size.
template <class F>
void Parser<F>::add_relocation_table(std::uint64_t address_tag, std::uint64_t size_tag, Kind kind) {
  const auto address = m_file.dynamic.value(address_tag);
  const std::uint64_t size = m_file.dynamic.value(size_tag).value_or(0);
  if (!address || size == 0) return;
  const Bytes mapped = m_file.mapped_from(*address);
  if (size > mapped.size()) {
    problem(fmt::format("{} bytes of relocations at address {:#x} exceed their segment", size, *address));
  }
  const Bytes table = mapped.clamp(0, size);
  for (const ElfFile::RelocationTable& known : m_file.m_relocation_tables) {
    const bool starts_inside =
        table.data() >= known.bytes.data() && table.data() < known.bytes.data() + known.bytes.size();
    if (starts_inside && known.kind == kind) return;
  }
  if (!table.empty()) m_file.m_relocation_tables.push_back({table, kind});
}

template void Parser<Elf32Le>::read_dynamic();
template void Parser<Elf32Be>::read_dynamic();
template void Parser<Elf64Le>::read_dynamic();
template void Parser<Elf64Be>::read_dynamic();

}  // namespace wheelsmith::elf
