#pragma once

#include <cstdint>
#include <type_traits>

#include "base/endian.h"

// ELF on disk. There are four dialects (32 and 64 bit, little and big endian) that differ in the width of a word, in
// its byte order, and in the order of the fields of two structs. A Format is one dialect: a set of structs made of file
// integers, so that code written once for a Format reads any of the four at any offset.
//
//   file    := header program_header* anything section_header*
//   dynamic := tag* null_tag                       (PT_DYNAMIC; addresses in it are virtual, not file offsets)
//   verneed := (Verneed Vernaux+)+, verdef := (Verdef Verdaux+)+    (linked by offsets relative to the record itself)
//   note    := NoteHeader owner padding description padding         (padded to 4, in some segments to 8)

namespace wheelsmith::elf {

template <bool Is64, Endian Order>
struct Format {
  static constexpr bool is_64bit = Is64;
  static constexpr Endian endian = Order;

  using U16 = FileInteger<std::uint16_t, Order>;
  using U32 = FileInteger<std::uint32_t, Order>;
  using U64 = FileInteger<std::uint64_t, Order>;
  using Word = std::conditional_t<Is64, U64, U32>;

  struct Header {
    std::uint8_t magic[4];
    std::uint8_t file_class;
    std::uint8_t data;
    std::uint8_t ident_version;
    std::uint8_t os_abi;
    std::uint8_t abi_version;
    std::uint8_t padding[7];
    U16 type;
    U16 machine;
    U32 version;
    Word entry;
    Word program_headers;
    Word section_headers;
    U32 flags;
    U16 header_size;
    U16 program_header_size;
    U16 program_header_count;  // 0xffff: the count is the `info` of section 0
    U16 section_header_size;
    U16 section_header_count;  // 0: the count is the `size` of section 0
    U16 section_names;         // 0xffff: the index is the `link` of section 0
  };

  struct ProgramHeader64 {
    U32 type;
    U32 flags;
    U64 offset, address, physical_address, file_size, memory_size, align;
  };
  struct ProgramHeader32 {
    U32 type;
    U32 offset, address, physical_address, file_size, memory_size;
    U32 flags;
    U32 align;
  };
  using ProgramHeader = std::conditional_t<Is64, ProgramHeader64, ProgramHeader32>;

  struct SectionHeader {
    U32 name;
    U32 type;
    Word flags, address, offset, size;
    U32 link, info;
    Word align, entry_size;
  };

  struct Tag {
    Word tag;
    Word value;
  };

  struct Symbol64 {
    U32 name;
    std::uint8_t info, other;
    U16 section;
    U64 value, size;
  };
  struct Symbol32 {
    U32 name;
    U32 value, size;
    std::uint8_t info, other;
    U16 section;
  };
  using Symbol = std::conditional_t<Is64, Symbol64, Symbol32>;

  struct Verneed {
    U16 version, count;
    U32 file, aux, next;
  };
  struct Vernaux {
    U32 hash;
    U16 flags;  // 2: weak
    U16 index;
    U32 name, next;
  };
  struct Verdef {
    U16 version;
    U16 flags;  // 1: base
    U16 index, count;
    U32 hash, aux, next;
  };
  struct Verdaux {
    U32 name, next;
  };

  struct NoteHeader {
    U32 owner_size, description_size, type;
  };

  struct Rel {
    Word address, info;
  };
  struct Rela {
    Word address, info, addend;
  };
  static constexpr int symbol_shift = Is64 ? 32 : 8;  // in a relocation's info, below it the type
};

using Elf32Le = Format<false, Endian::little>;
using Elf32Be = Format<false, Endian::big>;
using Elf64Le = Format<true, Endian::little>;
using Elf64Be = Format<true, Endian::big>;

static_assert(sizeof(Elf32Le::Header) == 52 && sizeof(Elf64Le::Header) == 64);
static_assert(sizeof(Elf32Le::ProgramHeader) == 32 && sizeof(Elf64Le::ProgramHeader) == 56);
static_assert(sizeof(Elf32Le::SectionHeader) == 40 && sizeof(Elf64Le::SectionHeader) == 64);
static_assert(sizeof(Elf32Le::Symbol) == 16 && sizeof(Elf64Le::Symbol) == 24);
static_assert(sizeof(Elf32Le::Rela) == 12 && sizeof(Elf64Le::Rela) == 24);
static_assert(sizeof(Elf64Le::Verneed) == 16 && sizeof(Elf64Le::Verdef) == 20);

// Numbers of dynamic tags.
enum : std::uint64_t {
  k_tag_needed = 1,
  k_tag_plt_size = 2,
  k_tag_plt_got = 3,
  k_tag_hash = 4,
  k_tag_strings = 5,
  k_tag_symbols = 6,
  k_tag_rela = 7,
  k_tag_rela_size = 8,
  k_tag_strings_size = 10,
  k_tag_init = 12,
  k_tag_fini = 13,
  k_tag_soname = 14,
  k_tag_rpath = 15,
  k_tag_rel = 17,
  k_tag_rel_size = 18,
  k_tag_plt_kind = 20,
  k_tag_text_relocations = 22,
  k_tag_plt = 23,
  k_tag_bind_now = 24,
  k_tag_init_array = 25,
  k_tag_fini_array = 26,
  k_tag_runpath = 29,
  k_tag_flags = 30,
  k_tag_preinit_array = 32,
  k_tag_relr_size = 35,
  k_tag_relr = 36,
  k_tag_gnu_hash = 0x6ffffef5,
  k_tag_version_symbols = 0x6ffffff0,
  k_tag_flags_1 = 0x6ffffffb,
  k_tag_version_definitions = 0x6ffffffc,
  k_tag_version_definition_count = 0x6ffffffd,
  k_tag_version_needs = 0x6ffffffe,
  k_tag_version_need_count = 0x6fffffff,
};

// The tags whose value is an address.
inline constexpr std::uint64_t k_address_tags[] = {k_tag_plt_got,
                                                   k_tag_hash,
                                                   k_tag_strings,
                                                   k_tag_symbols,
                                                   k_tag_rela,
                                                   k_tag_init,
                                                   k_tag_fini,
                                                   k_tag_rel,
                                                   k_tag_plt,
                                                   k_tag_init_array,
                                                   k_tag_fini_array,
                                                   k_tag_preinit_array,
                                                   k_tag_relr,
                                                   k_tag_gnu_hash,
                                                   k_tag_version_symbols,
                                                   k_tag_version_definitions,
                                                   k_tag_version_needs};

}  // namespace wheelsmith::elf
