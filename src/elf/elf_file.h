#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"

// Parses ELF files: 32 and 64 bit, both byte orders. All views point into the parsed bytes, which must stay alive. The
// dynamic segment is authoritative, not the section headers: a file without section headers parses the same.

namespace wheelsmith::elf {

// Named constants for the rest of the program.
enum : std::uint16_t {
  k_machine_386 = 3,
  k_machine_ppc64 = 21,
  k_machine_s390 = 22,
  k_machine_arm = 40,
  k_machine_x86_64 = 62,
  k_machine_aarch64 = 183,
  k_machine_cuda = 190,
  k_machine_amdgpu = 224,
  k_machine_riscv = 243,
  k_machine_loongarch = 258,
};
enum : std::uint16_t { k_type_rel = 1, k_type_exec = 2, k_type_dyn = 3 };
enum : std::uint32_t {
  k_segment_null = 0,
  k_segment_load = 1,
  k_segment_dynamic = 2,
  k_segment_interp = 3,
  k_segment_note = 4,
  k_segment_phdr = 6,
  k_segment_tls = 7,
  k_segment_gnu_stack = 0x6474e551,
  k_segment_gnu_relro = 0x6474e552,
  k_segment_gnu_property = 0x6474e553,
};
enum : std::uint32_t { k_executable = 1, k_writable = 2, k_readable = 4 };  // segment flags
enum : std::uint32_t { k_section_null = 0, k_section_progbits = 1, k_section_symtab = 2, k_section_nobits = 8 };
enum : std::uint64_t { k_section_write = 1, k_section_alloc = 2, k_section_exec = 4, k_section_compressed = 0x800 };

struct Segment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t align = 0;
};

struct Section {
  std::string_view name;  // empty if the name table is broken
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t align = 0;
  std::uint64_t entry_size = 0;
};

enum class Binding : std::uint8_t { local = 0, global = 1, weak = 2, unique = 10 };

struct Symbol {
  std::string_view name;
  Binding binding = Binding::local;
  std::uint8_t type = 0;        // 1 object, 2 function, 6 TLS, 10 indirect function
  std::uint8_t visibility = 0;  // 0 default, 1 internal, 2 hidden, 3 protected
  std::uint16_t section = 0;    // 0: undefined
  std::uint16_t version = 0;    // index without the hidden bit: 0 local, 1 global, else into needs or definitions
  bool hidden_version = false;  // name@VERSION rather than name@@VERSION
  std::uint64_t value = 0;
  std::uint64_t size = 0;

  [[nodiscard]] bool is_defined() const { return section != 0; }
  // Whether other files can bind to it.
  [[nodiscard]] bool is_exported() const {
    return section != 0 && binding != Binding::local && (visibility == 0 || visibility == 3);
  }
};

struct VersionNeed {
  std::string_view file;     // "libc.so.6"
  std::string_view version;  // "GLIBC_2.17"
  std::uint16_t index = 0;
  bool weak = false;
};

struct VersionDefinition {
  std::string_view version;
  std::uint16_t index = 0;
  bool base = false;  // names the file itself
};

struct Relocation {
  std::uint64_t address = 0;  // where it writes
  std::uint32_t type = 0;
  std::uint32_t symbol = 0;  // index into symbols()
  std::int64_t addend = 0;
};

struct DynamicTag {
  std::uint64_t tag = 0;
  std::uint64_t value = 0;  // a number, an address, or an offset into the dynamic strings
};

struct Dynamic {
  std::optional<std::string_view> soname;
  std::vector<std::string_view> needed;
  // The raw strings, split at ':' by the caller; of several tags the last one counts, as it does for glibc.
  std::optional<std::string_view> rpath;
  std::optional<std::string_view> runpath;
  bool text_relocations = false;  // DT_TEXTREL or DF_TEXTREL
  bool bind_now = false;
  bool static_tls = false;
  bool pie = false;              // DF_1_PIE
  std::vector<DynamicTag> tags;  // all of them in order, without the DT_NULL at the end

  // The value of the last such tag.
  [[nodiscard]] std::optional<std::uint64_t> value(std::uint64_t tag) const;
};

class ElfFile {
 public:
  static bool has_magic(Bytes bytes);
  // Throws Error if the file header, the program headers, the dynamic segment or its NEEDED names cannot be read.
  // Anything else that is broken is skipped and reported in `problems`.
  static ElfFile parse(Bytes bytes);
  static std::optional<ElfFile> try_parse(Bytes bytes);

  [[nodiscard]] Bytes bytes() const { return m_bytes; }
  bool is_64bit = true;
  Endian endian = Endian::little;
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint16_t type = 0;
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint64_t program_headers_offset = 0;
  std::uint64_t program_header_count = 0;
  std::uint64_t section_headers_offset = 0;
  std::uint64_t described_size = 0;  // the end of all tables and contents described by the headers

  std::vector<Segment> segments;
  std::vector<Section> sections;  // empty if there are none, or if the table is outside the file
  bool has_dynamic = false;
  Dynamic dynamic;
  std::vector<Symbol> symbols;  // the dynamic ones, index 0 (the null symbol) included
  std::vector<VersionNeed> version_needs;
  std::vector<VersionDefinition> version_definitions;
  std::optional<std::string> build_id;          // lower-case hex
  std::optional<std::string_view> interpreter;  // PT_INTERP
  std::optional<bool> executable_stack;         // none without PT_GNU_STACK
  std::uint32_t x86_isa_needed = 0;             // GNU_PROPERTY_X86_ISA_1_NEEDED
  bool has_symbol_table = false;                // .symtab: not stripped
  bool has_debug_info = false;                  // .debug_info
  std::vector<std::string> problems;            // sentences: what could not be read, with its location

  // "x86_64", "aarch64", "i686", … as platform tags spell it; "machine 190" for others.
  [[nodiscard]] std::string machine_name() const;
  // The file offset of an address, if a LOAD segment has file bytes for all of [address, address + size).
  [[nodiscard]] std::optional<std::uint64_t> file_offset(std::uint64_t address, std::uint64_t size = 1) const;
  // The file bytes from the address to the end of its LOAD segment; empty if no LOAD segment contains it.
  [[nodiscard]] Bytes mapped_from(std::uint64_t address) const;
  [[nodiscard]] const Section* find_section(std::string_view name) const;
  // The section's bytes; empty for NOBITS; throws if it is outside the file.
  [[nodiscard]] Bytes contents(const Section& section) const;
  // The relocations (RELA, REL, RELR, PLT) that write to [begin, end), by address. RELR entries have type 0 and, like
  // those of REL tables (addend 0), take their value from the relocated location. One pass over all tables: call once
  // for a whole section rather than once per pointer.
  [[nodiscard]] std::vector<Relocation> relocations_in(std::uint64_t begin, std::uint64_t end) const;
  // The version that an undefined symbol (or a copied one, in an executable) requires, with its library; null if none.
  [[nodiscard]] const VersionNeed* needed_version(const Symbol& symbol) const;
  // The version that a defined symbol has, or empty.
  [[nodiscard]] std::string_view defined_version(const Symbol& symbol) const;
  // Defines a function that `import` calls: PyInit_*, PyInitU_*, _cffi_pypyinit_*, or `init` + stem (Python 2), where
  // the stem is the file's name up to its first dot.
  [[nodiscard]] bool is_python_extension(std::string_view file_stem) const;

 private:
  template <class Format>
  friend class Parser;
  Bytes m_bytes;
  std::vector<std::uint32_t> m_need_by_index;        // version index -> place in version_needs + 1
  std::vector<std::uint32_t> m_definition_by_index;  // version index -> place in version_definitions + 1
  struct RelocationTable {
    Bytes bytes;
    enum class Kind : std::uint8_t { rel, rela, relr } kind = Kind::rela;
  };
  std::vector<RelocationTable> m_relocation_tables;
};

}  // namespace wheelsmith::elf
