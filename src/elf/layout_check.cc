#include "elf/layout_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "elf/elf_format.h"

// Checks a file's layout against glibc's requirements, and detects traces of broken edits.
//
// RPATH editors need room. In a shared library, patchelf before 0.19 lets the program headers grow over the bytes after
// them; the sections there move into a new writable segment at the end of the file. That is fine for tables that the
// dynamic tags locate, and silent corruption for code and constants, which other code addresses by distance: it still
// reads the old location, where the program headers are now. The trace is a section that no linker would put there:
// read-only contents in a writable segment after all others, next to moved tables.

namespace wheelsmith::elf {

namespace {

constexpr std::uint64_t k_page = 4096;

const char* const k_relink =
    "Recreate the file from the linker's output; change its run path with `wheelsmith elf edit` or patchelf 0.19 or "
    "newer.";

class LayoutCheck {
 public:
  LayoutCheck(const ElfFile& file, const std::string& subject) : m_file(file), m_subject(subject) {
    for (const Segment& segment : file.segments) {
      if (segment.type == k_segment_load) m_loads.push_back(&segment);
    }
  }

  std::vector<Finding> run() {
    for (const std::string& problem : m_file.problems) {
      if (is_cut_off() && problem.starts_with("the section header table")) continue;  // reported by check_length
      add("elf-malformed", Severity::warning, problem + ".",
          "The loader may not look there, but tools that read or edit the file do, and what they report of it is "
          "incomplete.",
          k_relink);
    }
    if (!is_loaded_by_the_system()) return std::move(m_findings);
    check_length();
    check_program_headers();
    for (const Segment* load : m_loads) check_segment(*load);
    check_order();
    check_moved_data();
    check_dynamic();
    check_stack();
    return std::move(m_findings);
  }

 private:
  // Object files have no segments; device code has its own loader.
  bool is_loaded_by_the_system() const {
    return !m_loads.empty() && (m_file.type == k_type_dyn || m_file.type == k_type_exec) &&
           m_file.machine != k_machine_cuda && m_file.machine != k_machine_amdgpu;
  }

  void add(const char* id, Severity severity, std::string what, std::string why, std::string fix) {
    m_findings.push_back({id, severity, m_subject, std::move(what), std::move(why), std::move(fix)});
  }

  static std::string name(const Segment& s) { return fmt::format("The LOAD segment at address {:#x}", s.address); }

  // Libraries are loaded into a running process; a program gets its stack from the kernel. Some libraries have an
  // interpreter, to print their version when run (libc, Qt).
  bool is_program() const {
    return m_file.type == k_type_exec || m_file.dynamic.pie || (m_file.interpreter && !m_file.dynamic.soname);
  }

  // musl ignores PT_GNU_STACK. Rust and zig link its libc as libc.so.
  bool uses_musl() const {
    return std::any_of(m_file.dynamic.needed.begin(), m_file.dynamic.needed.end(),
                       [](std::string_view name) { return name == "libc.so" || name.starts_with("libc.musl-"); });
  }

  bool is_cut_off() const { return m_file.described_size > m_file.bytes().size() && is_loaded_by_the_system(); }
  void check_length();
  void check_program_headers();
  void check_segment(const Segment& load);
  void check_order();
  void check_moved_data();
  void check_dynamic();
  void check_dynamic_tags();
  void check_stack();
  bool is_in_file_part(std::uint64_t offset, std::uint64_t address, std::uint64_t size) const;
  bool is_in_last_page(std::uint64_t offset, std::uint64_t address, std::uint64_t size) const;
  const Segment* load_at(std::uint64_t address) const;

  const ElfFile& m_file;
  const std::string& m_subject;
  std::vector<const Segment*> m_loads;
  std::vector<Finding> m_findings;
};

// Whether one LOAD maps these file bytes to this address.
bool LayoutCheck::is_in_file_part(std::uint64_t offset, std::uint64_t address, std::uint64_t size) const {
  return std::any_of(m_loads.begin(), m_loads.end(), [&](const Segment* load) {
    return offset >= load->offset && offset - load->offset <= load->file_size &&
           size <= load->file_size - (offset - load->offset) && address - load->address == offset - load->offset;
  });
}

// Whether the bytes follow a LOAD within its last page. The kernel maps all of that page, unless the segment has more
// memory than bytes: then the rest is cleared.
bool LayoutCheck::is_in_last_page(std::uint64_t offset, std::uint64_t address, std::uint64_t size) const {
  return std::any_of(m_loads.begin(), m_loads.end(), [&](const Segment* load) {
    const std::uint64_t end = load->address + load->file_size;
    return load->memory_size == load->file_size && address >= load->address && size <= k_page &&
           address - load->address == offset - load->offset && address + size <= (end + k_page - 1) / k_page * k_page;
  });
}

const Segment* LayoutCheck::load_at(std::uint64_t address) const {
  const auto found = std::find_if(m_loads.begin(), m_loads.end(), [&](const Segment* load) {
    return address >= load->address && address - load->address < load->memory_size;
  });
  return found == m_loads.end() ? nullptr : *found;
}

void LayoutCheck::check_length() {
  if (!is_cut_off()) return;
  add("elf-truncated", Severity::error,
      fmt::format("The headers describe {} bytes, but the file has {}: its end is missing.", m_file.described_size,
                  m_file.bytes().size()),
      "The missing part may be code or data; the loader does not check, and strip, patchelf and debuggers reject the "
      "file.",
      "Copy or build the file again.");
}

void LayoutCheck::check_program_headers() {
  const std::uint64_t header = m_file.is_64bit ? sizeof(Elf64Le::Header) : sizeof(Elf32Le::Header);
  const std::uint64_t entry = m_file.is_64bit ? sizeof(Elf64Le::ProgramHeader) : sizeof(Elf32Le::ProgramHeader);
  const std::uint64_t size = m_file.program_header_count * entry;
  const std::uint64_t offset = m_file.program_headers_offset;
  for (const Segment& s : m_file.segments) {
    if (s.type != k_segment_phdr) continue;
    // Tools that move the table reserve entries after it and may count them: this is harmless.
    if (s.offset == offset && s.file_size >= size && is_in_file_part(s.offset, s.address, s.file_size)) continue;
    add("elf-program-headers-uncovered", Severity::error,
        fmt::format(
            "PT_PHDR says that the program headers are {} bytes at offset {:#x}, address {:#x}; they are {} bytes at "
            "offset {:#x}, and {}.",
            s.file_size, s.offset, s.address, size, offset,
            is_in_file_part(s.offset, s.address, s.file_size) ? "that is a different location"
                                                              : "no LOAD segment maps them to that address"),
        "The loader reads other bytes as the program headers: loading fails (\"failed to map segment\") or crashes.",
        k_relink);
    return;
  }
  if (offset == header) return;
  add("elf-program-headers-moved", Severity::note,
      fmt::format("The program headers are at offset {:#x}, not right after the file header.", offset),
      "The file loads, but GNU strip and patchelf before 0.19 turn such a file into one that crashes.",
      "Strip before editing, never after; to edit it again use llvm-strip, `wheelsmith elf edit` or patchelf 0.19 or "
      "newer.");
}

void LayoutCheck::check_segment(const Segment& load) {
  if (!m_file.bytes().contains(load.offset, load.file_size)) {
    add("elf-segment-outside-file", Severity::error,
        fmt::format("{} needs {} bytes at offset {:#x}, but the file has {} bytes.", name(load), load.file_size,
                    load.offset, m_file.bytes().size()),
        "The file is truncated: the process dies with SIGBUS when it accesses the missing part.",
        "Copy or build the file again.");
  }
  if (load.memory_size < load.file_size) {
    add("elf-segment-overlap", Severity::error,
        fmt::format("{} has {} bytes in the file but only {} in memory.", name(load), load.file_size, load.memory_size),
        "Loaders reject such a segment, or map it over the next one.", k_relink);
  }
  const std::uint64_t page = std::max<std::uint64_t>(load.align, k_page);
  if (load.align != 0 && (!std::has_single_bit(load.align) || load.align % k_page != 0)) {
    add("elf-segment-misaligned", Severity::error,
        fmt::format("{} has alignment {:#x}, which is not a multiple of the page size.", name(load), load.align),
        "glibc rejects it: \"ELF load command alignment not page-aligned\".", k_relink);
  } else if ((load.address - load.offset) % page != 0) {
    add("elf-segment-misaligned", Severity::error,
        fmt::format("{} has offset {:#x}: address and offset differ modulo its alignment {:#x}.", name(load),
                    load.offset, page),
        (load.address - load.offset) % k_page != 0
            ? "glibc rejects it: \"ELF load command address/offset not page-aligned\"."
            : "glibc before 2.35 rejects it: \"ELF load command address/offset not properly aligned\".",
        k_relink);
  }
}

// The second of two segments that share a page is mapped over the first one's end; harmless only if both map the same
// file bytes there.
void LayoutCheck::check_order() {
  for (std::size_t i = 1; i < m_loads.size(); ++i) {
    const Segment& before = *m_loads[i - 1];
    const Segment& after = *m_loads[i];
    const char* how = nullptr;
    if (after.address < before.address) {
      how = "is listed after";
    } else if (before.memory_size > after.address - before.address) {
      how = "overlaps";
    } else if (before.memory_size > 0 && before.memory_size > (after.address / k_page * k_page) - before.address &&
               after.address / k_page * k_page > before.address &&
               before.address - before.offset != after.address - after.offset) {
      how = "is mapped over the last page of";
    }
    if (how == nullptr) continue;
    add("elf-segment-overlap", Severity::error,
        fmt::format("{} {} the one at {:#x}.", name(after), how, before.address),
        "The loader expects segments sorted by address and without overlap; here one overwrites the other.", k_relink);
  }
}

void LayoutCheck::check_moved_data() {
  const Segment& last = *std::max_element(
      m_loads.begin(), m_loads.end(), [](const Segment* a, const Segment* b) { return a->address < b->address; })[0];
  if (m_loads.size() < 2 || (last.flags & k_writable) == 0) return;
  constexpr std::uint32_t k_section_strtab = 3, k_section_hash = 5, k_section_dynsym = 11,
                          k_section_gnu_hash = 0x6ffffff6;
  std::string moved;
  bool has_table = false;
  for (const Section& section : m_file.sections) {
    const bool is_here = (section.flags & k_section_alloc) != 0 && section.size > 0 &&
                         section.address >= last.address && section.address - last.address < last.memory_size;
    if (!is_here) continue;
    has_table |= section.type == k_section_strtab || section.type == k_section_hash ||
                 section.type == k_section_dynsym || section.type == k_section_gnu_hash;
    if (section.type != k_section_progbits || (section.flags & k_section_write) != 0 || section.name == ".interp")
      continue;
    moved += moved.empty() ? "" : ", ";
    moved += section.name;
  }
  if (moved.empty() || !has_table) return;
  add("elf-moved-data", Severity::error,
      fmt::format("The read-only contents of {} were moved into the writable segment at {:#x}, after everything else.",
                  moved, last.address),
      "Code still refers to the old location, which now holds program headers: it reads garbage or "
      "crashes. "
      "patchelf before 0.19 does this.",
      k_relink);
}

void LayoutCheck::check_dynamic() {
  if (!m_file.has_dynamic) return;
  for (const Segment& s : m_file.segments) {
    if (s.type != k_segment_dynamic) continue;
    if (!is_in_file_part(s.offset, s.address, s.file_size)) {
      const bool by_page = is_in_last_page(s.offset, s.address, s.file_size);
      add("elf-dynamic-dangling", by_page ? Severity::warning : Severity::error,
          fmt::format(
              "The dynamic segment is {} bytes at offset {:#x}, but no LOAD segment maps them to its address {:#x}.",
              s.file_size, s.offset, s.address),
          by_page
              ? "The file loads only because whole pages are mapped, and the tags are in the last page of a segment."
              : "The loader reads the dynamic tags from that address and finds other data.",
          k_relink);
    }
    const Section* section = m_file.find_section(".dynamic");
    if (section != nullptr && section->type != k_section_nobits && section->address != s.address) {
      add("elf-dynamic-dangling", Severity::warning,
          fmt::format("The section header of .dynamic says address {:#x}, the dynamic segment {:#x}.", section->address,
                      s.address),
          "The file loads, but strip, patchelf and other tools that use section headers edit the wrong bytes.",
          k_relink);
    }
    break;
  }
  check_dynamic_tags();
  if (m_file.dynamic.text_relocations) {
    add("elf-text-relocations", is_program() ? Severity::warning : Severity::error,
        "The loader must write into code that is mapped read-only (DT_TEXTREL).",
        "SELinux systems refuse to load it (\"cannot restore segment prot after reloc\"), with musl it crashes, "
        "and "
        "every process gets its own copy of those pages.",
        "Compile everything linked into the file with -fPIC, and write position-independent assembly.");
  }
}

void LayoutCheck::check_dynamic_tags() {
  for (const std::uint64_t tag : k_address_tags) {
    const std::uint64_t address = m_file.dynamic.value(tag).value_or(0);
    if (address == 0 || load_at(address) != nullptr) continue;
    // An empty table may be right after the last segment.
    const bool is_array =
        tag == k_tag_init_array || tag == k_tag_fini_array || tag == k_tag_preinit_array || tag == k_tag_plt_got;
    const bool is_end = std::any_of(m_loads.begin(), m_loads.end(),
                                    [&](const Segment* load) { return address == load->address + load->memory_size; });
    if (is_array && is_end) continue;
    add("elf-dynamic-dangling", Severity::error,
        fmt::format("The dynamic tag {:#x} points to address {:#x}, which is not in any LOAD segment.", tag, address),
        "The loader follows it and crashes.", k_relink);
  }
  const Section* strings = m_file.find_section(".dynstr");
  const auto address = m_file.dynamic.value(k_tag_strings);
  if (strings != nullptr && strings->type != k_section_nobits && address && strings->address != *address) {
    add("elf-dynamic-dangling", Severity::warning,
        fmt::format("The section header of .dynstr says address {:#x}, the dynamic tag DT_STRTAB {:#x}.",
                    strings->address, *address),
        "The file loads, but strip, patchelf and other tools that use section headers edit the wrong bytes.", k_relink);
  }
}

void LayoutCheck::check_stack() {
  const bool default_is_executable = m_file.machine == k_machine_x86_64 || m_file.machine == k_machine_386 ||
                                     m_file.machine == k_machine_arm || m_file.machine == k_machine_s390;
  if (m_file.executable_stack.value_or(default_is_executable) == false) return;
  add("elf-executable-stack", is_program() || uses_musl() ? Severity::warning : Severity::error,
      m_file.executable_stack ? "PT_GNU_STACK requests an executable stack."
                              : "PT_GNU_STACK is missing, which requests an executable stack on this machine.",
      is_program() ? "The process runs with an executable stack, which disables a protection against exploits."
                   : "glibc 2.41 and newer refuse to load such a library: \"cannot enable executable stack as shared "
                     "object requires\"; older versions make every stack of the process executable.",
      "Link with -Wl,-z,noexecstack; if an assembly file causes it, add an empty .note.GNU-stack section.");
}

}  // namespace

std::vector<Finding> check_layout(const ElfFile& file, const std::string& subject) {
  return LayoutCheck(file, subject).run();
}

}  // namespace wheelsmith::elf
