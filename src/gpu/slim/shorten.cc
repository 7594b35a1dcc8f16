#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>

#include "base/error.h"
#include "elf/edit_room.h"
#include "elf/elf_format.h"
#include "gpu/code/wrappers.h"
#include "gpu/slim/containers.h"

// Cuts freed space out of an ELF file.
//
// Code refers to data by distance, so nothing that is loaded may change its address. Containers of device code are the
// exception: only the wrappers point to them. So the containers move together at the start of their section, and the
// wrappers' pointers (in relocations, or in place) follow. The pages after them are removed from the file; their
// addresses stay unused. The LOAD segment becomes two, before and after the gap:
//
//   before   LOAD [ rodata | container  free | container  free | eh_frame ]
//   after    LOAD [ rodata | containers ]  gap  LOAD [ eh_frame ]
//
// The cut is a multiple of the largest alignment of a LOAD, because glibc before 2.35 compares offsets and addresses
// modulo it. The second LOAD needs a program header. An unused one, or free space after the table, serves; otherwise a
// PT_NOTE gives up its slot: its section remains, so readelf and debuggers still find the build id. The table itself
// never moves, because GNU strip writes broken files from one that did.
//
// It is not done if anything but a wrapper points into the section.

namespace wheelsmith::gpu {

namespace {

using F = elf::Elf64Le;

constexpr std::uint64_t k_least_cut = 0x10000;
constexpr const char* k_not_worth_it = "nothing to cut";

std::uint64_t rounded_down(std::uint64_t value, std::uint64_t align) { return value / align * align; }
std::uint64_t rounded_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

template <class T>
std::string raw(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

class Shortener {
 public:
  Shortener(const elf::ElfFile& file, const FatbinSection& section, const std::vector<Replacement>& others)
      : m_file(file), m_bytes(file.bytes()), m_section(section), m_others(others) {}

  // Throws Error with the reason why it is not done.
  Splice run() {
    check_kind();
    find_places();
    check_pointers();
    plan_cut();
    lay_out();
    patch_headers();
    patch_program_headers();
    patch_section_headers();
    patch_pointers();
    patch_symbols();
    return std::move(m_splice);
  }

 private:
  [[noreturn]] static void refuse(const std::string& why) { throw Error(why); }

  [[nodiscard]] std::uint64_t end() const { return m_section.offset + m_section.size; }
  [[nodiscard]] bool is_inside(std::uint64_t address) const {
    return address >= m_section.address && address - m_section.address < m_section.size;
  }
  // The offset in the new file of something outside the section.
  [[nodiscard]] std::uint64_t moved(std::uint64_t offset) const {
    return offset >= end() ? offset - (m_cut_end - m_cut_begin) : offset;
  }

  void check_kind() const {
    if (!m_file.is_64bit || m_file.endian != Endian::little || m_file.type != elf::k_type_dyn)
      refuse("it is not a 64-bit little-endian shared library");
    if (m_file.machine != elf::k_machine_x86_64 && m_file.machine != elf::k_machine_aarch64)
      refuse("it is for " + m_file.machine_name());
    if (m_section.broken) refuse("a container in it cannot be read");
    if (!m_bytes.contains(m_section.offset, m_section.size)) refuse("its section is not in the file");
  }

  // New addresses of the containers. Everything in the section must be a container that only wrappers point to, or
  // zeros.
  void find_places() {
    std::uint64_t at = m_section.offset, place = m_section.address;
    const auto check_gap = [&](std::uint64_t until) {
      const Bytes gap = m_bytes.slice(at, until - at);
      if (!std::all_of(gap.data(), gap.data() + gap.size(), [](std::uint8_t byte) { return byte == 0; }))
        refuse("its section contains other data");
    };
    for (const FatbinPlan& container : m_section.containers) {
      if (!container.editable) refuse("it contains code that the library loads by itself");
      check_gap(container.offset);
      at = container.offset + container.size;
      m_places.emplace(container.address, place);
      place += container.compacted().used();
    }
    check_gap(end());
    m_used = place - m_section.address;
  }

  void check_pointers() {
    std::map<std::uint64_t, WrapperPointer> wrappers;
    for (const WrapperPointer& pointer : wrapper_pointers(m_file, ".nvFatBinSegment", k_nvidia_wrapper)) {
      if (!is_inside(pointer.target)) continue;
      if (!m_places.contains(pointer.target)) refuse("a wrapper points into the middle of a container");
      if (pointer.source == WrapperPointer::Source::other) refuse("a wrapper's pointer refers to a symbol");
      wrappers.emplace(pointer.address, pointer);
    }
    for (const elf::Symbol& symbol : m_file.symbols) {
      if (symbol.is_defined() && is_inside(symbol.value)) refuse("a dynamic symbol refers to its code");
    }
    for (const elf::Relocation& relocation : m_file.relocations_in(0, ~std::uint64_t{0})) {
      const auto wrapper = wrappers.find(relocation.address);
      if (wrapper != wrappers.end()) {
        m_relocated[relocation.address] = relocation.type != 0;
        continue;
      }
      std::uint64_t value = static_cast<std::uint64_t>(relocation.addend);
      if (relocation.type == 0) {
        const auto place = m_file.file_offset(relocation.address, 8);
        if (!place) continue;
        value = m_bytes.get<le64>(*place);
      }
      if (is_inside(value)) refuse("another pointer refers to its code");
    }
    for (const auto& [address, pointer] : wrappers) {
      if (!m_relocated.contains(address)) refuse("a wrapper's pointer has no relocation");
      m_pointers.push_back(pointer);
    }
  }

  void plan_cut() {
    m_align = std::max<std::uint64_t>(elf::Rooms::page(m_file), 0x1000);
    for (const elf::Segment& segment : m_file.segments) {
      if (segment.type != elf::k_segment_load) continue;
      if (segment.align > (1U << 30) || (segment.align != 0 && !std::has_single_bit(segment.align)))
        refuse("a segment has an invalid alignment");
      m_align = std::max(m_align, segment.align);
    }
    m_cut_begin = rounded_up(m_section.offset + m_used, m_align);
    m_cut_end = rounded_down(end(), m_align);
    if (m_cut_end <= m_cut_begin || m_cut_end - m_cut_begin < k_least_cut) refuse(k_not_worth_it);
    const std::uint64_t headers_size = m_file.program_header_count * sizeof(F::ProgramHeader);
    const auto crosses = [&](std::uint64_t offset, std::uint64_t size) {
      return size != 0 && offset < end() && offset + size > m_section.offset;
    };
    if (crosses(m_file.program_headers_offset, headers_size) ||
        crosses(m_file.section_headers_offset, m_file.sections.size() * sizeof(F::SectionHeader)))
      refuse("a table of headers is in its section");
    m_load = m_file.segments.size();
    for (std::size_t i = 0; i < m_file.segments.size(); ++i) {
      const elf::Segment& segment = m_file.segments[i];
      const bool holds = segment.offset <= m_section.offset && segment.file_size >= end() - segment.offset &&
                         segment.address - segment.offset == m_section.address - m_section.offset;
      if (segment.type == elf::k_segment_load && holds && segment.address % m_align == segment.offset % m_align) {
        if (m_load != m_file.segments.size()) refuse("two segments contain its code");
        m_load = i;
      } else if (crosses(segment.offset, segment.file_size)) {
        refuse("another segment contains its code");
      }
    }
    if (m_load == m_file.segments.size()) refuse("no segment contains its code");
    for (const elf::Section& section : m_file.sections) {
      const bool is_it = section.offset == m_section.offset && section.size == m_section.size;
      if (!is_it && section.type != elf::k_section_nobits && crosses(section.offset, section.size))
        refuse("another section contains its code");
    }
  }

  void lay_out() {
    append_range(m_splice, 0, m_section.offset, m_others);
    for (const FatbinPlan& container : m_section.containers) append_packed(m_splice, container.compacted());
    m_splice.pad_to(m_cut_begin);
    m_splice.zeros(end() - m_cut_end);
    append_range(m_splice, end(), m_bytes.size(), m_others);
  }

  void patch_headers() {
    auto header = m_bytes.get<F::Header>(0);
    if (header.section_header_count != 0 && m_file.sections.size() != header.section_header_count)
      refuse("its section headers cannot be read");
    header.program_headers = moved(header.program_headers);
    if (!m_file.sections.empty()) header.section_headers = moved(header.section_headers);
    m_header = header;
  }

  // The LOAD in two parts, in the slot of a header that is not needed.
  void patch_program_headers() {
    const std::uint64_t table = m_file.program_headers_offset;
    const std::uint64_t count = m_file.program_header_count;
    std::vector<F::ProgramHeader> headers;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto header = m_bytes.get<F::ProgramHeader>(table + i * sizeof(F::ProgramHeader));
      if (header.offset >= end()) header.offset = moved(header.offset);
      headers.push_back(header);
    }
    F::ProgramHeader first = headers[m_load], second = first;
    const std::uint64_t into = m_cut_end - first.offset;
    first.file_size = first.memory_size = m_cut_begin - first.offset;
    second.offset = m_cut_begin;
    second.address = first.address + into;
    second.physical_address = first.physical_address + into;
    second.file_size = second.file_size - into;
    second.memory_size = second.memory_size - into;
    headers[m_load] = first;
    headers.insert(headers.begin() + static_cast<std::ptrdiff_t>(m_load) + 1, second);
    drop_slot(headers, table, count);
    std::string text;
    for (const F::ProgramHeader& header : headers) text += raw(header);
    m_splice.patch(moved(table), std::move(text));
    m_splice.patch(0, raw(m_header));
  }

  void drop_slot(std::vector<F::ProgramHeader>& headers, std::uint64_t table, std::uint64_t count) {
    const auto null = std::ranges::find_if(headers, [](const auto& one) { return one.type == elf::k_segment_null; });
    if (null != headers.end()) {
      headers.erase(null);
      return;
    }
    const std::uint64_t table_end = table + count * sizeof(F::ProgramHeader);
    const bool is_alone = std::ranges::none_of(m_others, [&](const Replacement& one) {
      return one.offset < table_end + sizeof(F::ProgramHeader) && one.offset + one.size > table_end;
    });
    const elf::Segment* cover = nullptr;
    for (const elf::Segment& segment : m_file.segments) {
      if (segment.type == elf::k_segment_load && segment.offset <= table &&
          segment.offset + segment.file_size >= table_end + sizeof(F::ProgramHeader))
        cover = &segment;
    }
    if (is_alone && cover != nullptr && count + 1 < 0xffff && m_header.program_header_count == count &&
        elf::Rooms(m_file).free_from(table_end, sizeof(F::ProgramHeader), true) >= sizeof(F::ProgramHeader)) {
      m_header.program_header_count = static_cast<std::uint16_t>(count + 1);
      for (F::ProgramHeader& header : headers) {
        if (header.type == elf::k_segment_phdr)
          header.file_size = header.memory_size = headers.size() * sizeof(F::ProgramHeader);
      }
      return;
    }
    // Of several notes the one that another segment repeats: GNU_PROPERTY has the properties by itself.
    const bool has_property =
        std::ranges::any_of(headers, [](const auto& one) { return one.type == elf::k_segment_gnu_property; });
    auto victim = headers.end();
    for (auto header = headers.begin(); header != headers.end(); ++header) {
      if (header->type != elf::k_segment_note) continue;
      const bool repeated = has_property && std::ranges::any_of(headers, [&](const auto& one) {
                              return one.type == elf::k_segment_gnu_property && one.address == header->address;
                            });
      if (victim == headers.end() || repeated) victim = header;
    }
    if (victim == headers.end()) refuse("its table of program headers has no free slot");
    headers.erase(victim);
  }

  void patch_section_headers() {
    if (m_file.sections.empty()) return;
    std::string text;
    for (std::size_t i = 0; i < m_file.sections.size(); ++i) {
      auto header = m_bytes.get<F::SectionHeader>(m_file.section_headers_offset + i * sizeof(F::SectionHeader));
      if (i != 0 && header.offset == m_section.offset && header.size == m_section.size)
        header.size = m_used;
      else if (i != 0)
        header.offset = moved(header.offset);
      text += raw(header);
    }
    m_splice.patch(moved(m_file.section_headers_offset), std::move(text));
  }

  void patch_pointers() {
    std::map<std::uint64_t, std::uint64_t> entries = relocation_entries();
    for (const WrapperPointer& pointer : m_pointers) {
      const le64 target(m_places.at(pointer.target));
      const auto place = m_file.file_offset(pointer.address, 8);
      if (!place) refuse("a wrapper is not in the file");
      if (pointer.source == WrapperPointer::Source::relative) {
        const auto entry = entries.find(pointer.address);
        if (entry == entries.end()) refuse("the relocation of a wrapper cannot be found");
        m_splice.patch(moved(entry->second + offsetof(F::Rela, addend)), raw(target));
        if (m_bytes.get<le64>(*place) != pointer.target) continue;  // the linker left the place empty
      }
      m_splice.patch(moved(*place), raw(target));
    }
  }

  // Where the RELA entries of the wrappers are in the file.
  [[nodiscard]] std::map<std::uint64_t, std::uint64_t> relocation_entries() const {
    std::map<std::uint64_t, std::uint64_t> entries;
    const std::uint64_t size = m_file.dynamic.value(elf::k_tag_rela_size).value_or(0);
    const auto table = m_file.file_offset(m_file.dynamic.value(elf::k_tag_rela).value_or(0), size);
    if (!table) return entries;
    for (std::uint64_t at = 0; at + sizeof(F::Rela) <= size; at += sizeof(F::Rela)) {
      const auto rela = m_bytes.get<F::Rela>(*table + at);
      if (!m_relocated.contains(rela.address)) continue;
      if (!entries.emplace(rela.address, *table + at).second) refuse("a wrapper is relocated twice");
    }
    return entries;
  }

  // Symbols that name containers (local ones; debuggers and profilers show them).
  void patch_symbols() {
    for (const elf::Section& section : m_file.sections) {
      if (section.type != elf::k_section_symtab || !m_bytes.contains(section.offset, section.size)) continue;
      for (std::uint64_t at = section.offset; at + sizeof(F::Symbol) <= section.offset + section.size;
           at += sizeof(F::Symbol)) {
        const auto symbol = m_bytes.get<F::Symbol>(at);
        const auto place = m_places.find(symbol.value);
        if (place == m_places.end() || place->second == symbol.value) continue;
        m_splice.patch(moved(at + offsetof(F::Symbol, value)), raw(le64(place->second)));
      }
    }
  }

  const elf::ElfFile& m_file;
  Bytes m_bytes;
  const FatbinSection& m_section;
  const std::vector<Replacement>& m_others;
  std::map<std::uint64_t, std::uint64_t> m_places;  // of containers: old address -> new
  std::uint64_t m_used = 0;                         // bytes of the packed containers
  std::map<std::uint64_t, bool> m_relocated;        // pointers of wrappers; true: by RELA, false: by RELR
  std::vector<WrapperPointer> m_pointers;
  std::uint64_t m_align = 0, m_cut_begin = 0, m_cut_end = 0;  // old offsets
  std::size_t m_load = 0;
  F::Header m_header;
  Splice m_splice;
};

}  // namespace

std::optional<Splice> shorten(const elf::ElfFile& file, const FatbinSection& section,
                              const std::vector<Replacement>& others, std::string& why_not) {
  try {
    return Shortener(file, section, others).run();
  } catch (const Error& error) {  // the answer: the file is compacted in place instead
    why_not = error.what() == std::string_view(k_not_worth_it) ? "" : error.what();
  }
  return std::nullopt;
}

}  // namespace wheelsmith::gpu
