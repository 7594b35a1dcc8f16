#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Small but valid ELF files for tests: shared objects of either class and byte order (glibc's loader takes the x86_64
// ones), and, without a dynamic segment, objects and device code.
//
//   const std::string bytes = ElfBuilder()
//                                 .soname("libdemo.so.1")
//                                 .needed("libc.so.6")
//                                 .import("memcpy", "libc.so.6", "GLIBC_2.14")
//                                 .define("PyInit_demo")
//                                 .section({.name = ".nv_fatbin", .contents = container})
//                                 .section({.name = ".nvFatBinSegment", .flags = 3, .contents = wrapper})
//                                 .relocate({.section = ".nvFatBinSegment", .offset = 8, .target = ".nv_fatbin"})
//                                 .build();
//
// The file's layout: header, program headers, then the read-only segment (tables, sections that are not writable), the
// writable one (.dynamic, writable sections, NOBITS last; its addresses are 0x1000 above its offsets), then sections
// that are not loaded, section names and section headers.

namespace wheelsmith::testing {

class ElfBuilder {
 public:
  struct Section {
    std::string name = {};
    std::uint32_t type = 1;   // PROGBITS
    std::uint64_t flags = 2;  // 1 writable, 2 loaded, 4 executable
    std::uint64_t align = 8;
    std::string contents = {};
    std::uint64_t size = 0;  // of a NOBITS section (type 8)
    std::uint64_t entry_size = 0;
    std::uint32_t link = 0;
    std::uint32_t info = 0;
  };
  struct Symbol {
    std::string name = {};
    std::uint8_t binding = 1;  // 0 local, 1 global, 2 weak, 10 unique
    std::uint8_t type = 2;     // 1 object, 2 function
    std::uint8_t visibility = 0;
    bool defined = true;
    std::string section = {};  // where it is defined; empty: an absolute symbol
    std::uint64_t value = 0;   // offset in the section
    std::uint64_t size = 0;
    std::string version = {};     // empty: none
    std::string file = {};        // undefined symbols: the file that must define the version
    bool hidden_version = false;  // defined symbols: name@VERSION, not the default
  };
  enum class RelocationTable { rela, rel, relr, plt };
  // The pointer at section + offset shall point to target + target_offset, or to the symbol (by name) + addend.
  struct Relocation {
    std::string section = {};
    std::uint64_t offset = 0;
    std::string target = {};
    std::uint64_t target_offset = 0;
    std::string symbol = {};
    RelocationTable table = RelocationTable::rela;  // plt: RELA entries behind DT_JMPREL
    bool in_place = false;                          // rela: write the value to the place as well, as GNU ld does
    std::optional<std::uint32_t> type = {};         // else: RELATIVE or absolute pointer of the machine
  };
  enum class Hash { gnu, sysv, both, none };

  // The kind of file; the default is a little-endian 64 bit x86_64 shared object.
  ElfBuilder& bits32() { return m_is_64bit = false, *this; }
  ElfBuilder& big_endian() { return m_big_endian = true, *this; }
  ElfBuilder& machine(std::uint16_t machine) { return m_machine = machine, *this; }
  ElfBuilder& type(std::uint16_t type) { return m_type = type, *this; }  // 1 object, 2 executable, 3 shared
  ElfBuilder& flags(std::uint32_t flags) { return m_flags = flags, *this; }
  ElfBuilder& os_abi(std::uint8_t abi, std::uint8_t version) { return m_abi = abi, m_abi_version = version, *this; }
  ElfBuilder& without_dynamic() { return m_dynamic = false, *this; }
  ElfBuilder& without_section_headers() { return m_section_headers = false, *this; }
  ElfBuilder& without_stack() { return m_stack_flags.reset(), *this; }
  ElfBuilder& executable_stack() { return m_stack_flags = 7, *this; }
  // Section count and name table index in section 0, program header count in section 0's info.
  ElfBuilder& extended_numbering() { return m_extended = true, *this; }
  ElfBuilder& with_phdr_segment() { return m_phdr_segment = true, *this; }
  ElfBuilder& hash(Hash hash) { return m_hash = hash, *this; }

  ElfBuilder& soname(std::string_view name) { return string_tag(14, name); }
  ElfBuilder& needed(std::string_view name) { return string_tag(1, name); }
  ElfBuilder& rpath(std::string_view path) { return string_tag(15, path); }
  ElfBuilder& runpath(std::string_view path) { return string_tag(29, path); }
  ElfBuilder& tag(std::uint64_t tag, std::uint64_t value);
  ElfBuilder& string_tag(std::uint64_t tag, std::string_view text);

  ElfBuilder& symbol(Symbol symbol);
  ElfBuilder& define(std::string_view name, std::string_view version = {});
  ElfBuilder& import(std::string_view name, std::string_view file = {}, std::string_view version = {});
  // Versions that no symbol uses.
  ElfBuilder& need_version(std::string_view file, std::string_view version, bool weak = false);
  ElfBuilder& define_version(std::string_view version);

  ElfBuilder& section(Section section);
  ElfBuilder& relocate(Relocation relocation);
  ElfBuilder& note(std::string_view section, std::string_view owner, std::uint32_t type, std::string_view description,
                   std::uint64_t align = 4);
  ElfBuilder& build_id(std::string_view id) { return note(".note.gnu.build-id", "GNU", 3, id); }
  ElfBuilder& interpreter(std::string_view path);

  // The file; throws Error when a section or symbol that a relocation names does not exist.
  [[nodiscard]] std::string build() const;

 private:
  friend class ElfImage;
  struct Note {
    std::string section;
    std::string owner;
    std::uint32_t type = 0;
    std::string description;
    std::uint64_t align = 4;
  };
  struct Tag {
    std::uint64_t tag = 0;
    std::uint64_t value = 0;
    std::optional<std::string> text;
  };
  struct Version {
    std::string file = {};  // empty: defined here
    std::string version = {};
    bool weak = false;
  };

  bool m_is_64bit = true;
  bool m_big_endian = false;
  bool m_dynamic = true;
  bool m_section_headers = true;
  bool m_extended = false;
  bool m_phdr_segment = false;
  std::uint16_t m_machine = 62;
  std::uint16_t m_type = 3;
  std::uint32_t m_flags = 0;
  std::uint8_t m_abi = 0;
  std::uint8_t m_abi_version = 0;
  std::optional<std::uint32_t> m_stack_flags = 6;
  Hash m_hash = Hash::gnu;
  std::vector<Tag> m_tags;
  std::vector<Symbol> m_symbols;
  std::vector<Version> m_versions;
  std::vector<Section> m_sections;
  std::vector<Note> m_notes;
  std::vector<Relocation> m_relocations;
};

}  // namespace wheelsmith::testing
