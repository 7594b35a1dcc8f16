#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "elf/elf_file.h"
#include "elf/elf_format.h"

// The implementation of ElfFile::parse, shared by the files that each read one part.

namespace wheelsmith::elf {

// Strings by offset. Measuring many hostile offsets into one long string would cost their product, so reading is
// limited to a multiple of the table (smaller for large tables, because everything read is kept in memory): linkers
// merge common suffixes, but no real table comes close.
class Strings {
 public:
  Strings() = default;
  explicit Strings(Bytes table)
      : m_table(table), m_budget(std::min(64 * table.size() + 0x10000, 2 * table.size() + 0x2000000)) {}

  // Nothing if the offset is outside, the string is not terminated, or the budget is used up.
  std::optional<std::string_view> at(std::uint64_t offset);
  [[nodiscard]] std::uint64_t size() const { return m_table.size(); }

 private:
  Bytes m_table;
  std::uint64_t m_budget = 0;
};

template <class F>
class Parser {
 public:
  explicit Parser(Bytes bytes) { m_file.m_bytes = bytes; }
  ElfFile parse();

 private:
  using Kind = ElfFile::RelocationTable::Kind;

  // elf_file.cc
  void read_header();
  void read_segments();
  void read_sections();
  std::optional<typename F::SectionHeader> first_section() const;
  void problem(std::string sentence);
  void describe_up_to(std::uint64_t offset, std::uint64_t size);

  // dynamic.cc
  void read_dynamic();
  Bytes dynamic_bytes(const Segment& segment);
  void read_dynamic_strings();
  void apply_tag(const DynamicTag& tag);
  std::string_view dynamic_string(const DynamicTag& tag);
  std::optional<std::string_view> optional_string(const DynamicTag& tag, const char* name);
  void read_relocation_tables();
  void add_relocation_table(std::uint64_t address_tag, std::uint64_t size_tag, Kind kind);

  // symbols.cc
  void read_symbols();
  std::uint64_t count_symbols(Bytes table);
  std::optional<std::uint64_t> count_by_gnu_hash();
  std::optional<std::uint64_t> count_by_hash();
  std::uint64_t count_by_next_table(Bytes table, std::uint64_t address);
  void read_symbol_versions();

  // versions.cc
  void read_version_needs();
  void read_version_definitions();
  void index_versions();

  // notes.cc
  void read_notes();
  void read_note_segment(Bytes notes, std::uint64_t align);
  void read_property(Bytes description);

  ElfFile m_file;
  typename F::Header m_header;
  Strings m_strings;
};

}  // namespace wheelsmith::elf
