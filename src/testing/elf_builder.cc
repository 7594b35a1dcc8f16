#include "testing/elf_builder.h"

#include <algorithm>

#include "base/error.h"
#include "testing/elf_tables.h"

namespace wheelsmith::testing {

namespace {

constexpr std::uint64_t k_page = 0x1000;

std::uint64_t round_up(std::uint64_t value, std::uint64_t align) {
  return align == 0 ? value : (value + align - 1) / align * align;
}

struct Placed {
  ElfBuilder::Section section;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::string link;  // name of the section that sh_link names

  [[nodiscard]] bool is_loaded() const { return (section.flags & 2) != 0; }
  [[nodiscard]] bool is_writable() const { return (section.flags & 1) != 0; }
  [[nodiscard]] bool is_nobits() const { return section.type == 8; }
  [[nodiscard]] std::uint64_t size() const { return is_nobits() ? section.size : section.contents.size(); }
};

struct Segment {
  std::uint32_t type = 0;
  std::uint32_t flags = 4;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t align = 1;
};

struct PointerTypes {
  std::uint32_t relative = 0;
  std::uint32_t absolute = 0;
};

PointerTypes pointer_types(std::uint16_t machine) {
  switch (machine) {
    case 3: return {8, 1};         // 386
    case 21: return {22, 38};      // ppc64
    case 22: return {12, 22};      // s390
    case 40: return {23, 2};       // arm
    case 183: return {1027, 257};  // aarch64
    case 243: return {3, 2};       // riscv
    case 258: return {3, 2};       // loongarch
    default: return {8, 1};        // x86_64
  }
}

}  // namespace

// The file while it is put together: first every table with its size, then places, then what needs addresses.
class ElfImage {
 public:
  explicit ElfImage(const ElfBuilder& builder) : m_b(builder), m_writer(builder.m_is_64bit, builder.m_big_endian) {}

  std::string build() {
    if (m_b.m_dynamic) {
      sort_symbols();
      make_tables();
    }
    for (const ElfBuilder::Note& note : m_b.m_notes) add_note(note);
    for (const ElfBuilder::Section& section : m_b.m_sections) m_placed.push_back({section, 0, 0, {}});
    order_sections();
    place_sections();
    make_segments();
    fill_symbols();
    fill_relocations();
    fill_dynamic();
    return emit();
  }

 private:
  using Symbol = ElfBuilder::Symbol;
  using Table = ElfBuilder::RelocationTable;

  void add(std::string_view name, std::uint32_t type, std::uint64_t flags, std::string contents,
           std::uint64_t entry = 0, std::string_view link = {}, std::uint32_t info = 0) {
    ElfBuilder::Section section{.name = std::string(name),
                                .type = type,
                                .flags = flags,
                                .align = 8,
                                .contents = std::move(contents),
                                .entry_size = entry,
                                .info = info};
    m_placed.push_back({std::move(section), 0, 0, std::string(link)});
  }
  void add_note(const ElfBuilder::Note& note) {
    ElfWriter out = m_writer.empty();
    out.u32(note.owner.size() + 1), out.u32(note.description.size()), out.u32(note.type);
    out.bytes(note.owner), out.u8(0), out.align(note.align);
    out.bytes(note.description), out.align(note.align);
    add(note.section, 7, 2, out.out());
    m_placed.back().section.align = note.align;
  }
  Placed& find(std::string_view name) {
    for (Placed& placed : m_placed) {
      if (placed.section.name == name) return placed;
    }
    throw Error("no section is called " + std::string(name));
  }
  std::uint64_t index_of(std::string_view section) const {
    for (std::uint64_t i = 0; i < m_placed.size(); ++i) {
      if (m_placed[i].section.name == section) return i + 1;
    }
    return 0;
  }

  // GNU hash wants what is looked up at the end, by bucket.
  void sort_symbols() {
    m_symbols = m_b.m_symbols;
    const auto defined = std::count_if(m_symbols.begin(), m_symbols.end(), [](const Symbol& s) { return s.defined; });
    m_buckets = static_cast<std::uint32_t>(defined / 4 + 1);
    const auto rank = [&](const Symbol& s) -> std::uint64_t {
      if (s.binding == 0) return 0;
      return s.defined ? 2 + gnu_hash_of(s.name) % m_buckets : 1;
    };
    std::stable_sort(m_symbols.begin(), m_symbols.end(),
                     [&](const Symbol& a, const Symbol& b) { return rank(a) < rank(b); });
    m_symbols.insert(m_symbols.begin(), Symbol{.name = "", .binding = 0, .type = 0, .defined = false});
    m_first_hashed = m_symbols.size();
    while (m_first_hashed > 1 && rank(m_symbols[m_first_hashed - 1]) >= 2) --m_first_hashed;
  }

  void make_tables() {
    std::vector<std::string> names;
    std::uint32_t locals = 0;
    for (const Symbol& symbol : m_symbols) {
      m_strings.add(symbol.name);
      names.push_back(symbol.name);
      locals += symbol.binding == 0 ? 1 : 0;
    }
    for (const ElfBuilder::Tag& tag : m_b.m_tags) m_strings.add(tag.text.value_or(""));
    add(".dynsym", 11, 2, std::string(m_symbols.size() * symbol_size(), '\0'), symbol_size(), ".dynstr", locals);
    using Hash = ElfBuilder::Hash;
    if (m_b.m_hash == Hash::gnu || m_b.m_hash == Hash::both) {
      add(".gnu.hash", 0x6ffffff6, 2, gnu_hash_table(m_writer, names, m_first_hashed, m_buckets), 0, ".dynsym");
    }
    if (m_b.m_hash == Hash::sysv || m_b.m_hash == Hash::both) {
      // s390x is the one machine whose table has words of 8 bytes.
      const bool wide = m_b.m_machine == 22 && m_b.m_is_64bit;
      add(".hash", 5, 2, sysv_hash_table(m_writer, names, wide), wide ? 8 : 4, ".dynsym");
    }
    make_versions();
    make_relocation_tables();
    add(".dynstr", 3, 2, m_strings.out());
    const std::uint64_t tags = m_b.m_tags.size() + 24;
    add(".dynamic", 6, 3, std::string(tags * 2 * m_writer.word_size(), '\0'), 2 * m_writer.word_size(), ".dynstr");
  }

  void make_versions() {
    std::vector<std::string> defined;
    std::vector<NeededVersions> needed;
    std::vector<ElfBuilder::Version> all = m_b.m_versions;
    for (const Symbol& symbol : m_symbols) {
      if (!symbol.version.empty()) all.push_back({symbol.defined ? "" : symbol.file, symbol.version, false});
    }
    if (all.empty()) return;
    for (const ElfBuilder::Version& version : all) {
      if (!version.file.empty()) continue;
      if (defined.empty()) defined.push_back(own_name());
      if (std::find(defined.begin() + 1, defined.end(), version.version) == defined.end()) {
        defined.push_back(version.version);
      }
    }
    auto next = static_cast<std::uint16_t>(std::max<std::size_t>(defined.size(), 1) + 1);
    for (const ElfBuilder::Version& version : all) {
      if (version.file.empty()) continue;
      auto file = std::find_if(needed.begin(), needed.end(), [&](const auto& n) { return n.file == version.file; });
      if (file == needed.end()) file = needed.insert(needed.end(), NeededVersions{version.file, {}});
      const auto known = std::find_if(file->versions.begin(), file->versions.end(),
                                      [&](const auto& one) { return one.name == version.version; });
      if (known == file->versions.end()) file->versions.push_back({version.version, next++, version.weak});
    }
    ElfWriter versym = m_writer.empty();
    for (const Symbol& symbol : m_symbols) versym.u16(version_index(symbol, defined, needed));
    add(".gnu.version", 0x6fffffff, 2, versym.out(), 2, ".dynsym");
    m_defined_versions = defined.size();
    m_needed_files = needed.size();
    if (!defined.empty()) {
      add(".gnu.version_d", 0x6ffffffd, 2, verdef_table(m_writer, m_strings, defined), 0, ".dynstr",
          static_cast<std::uint32_t>(defined.size()));
    }
    if (!needed.empty()) {
      add(".gnu.version_r", 0x6ffffffe, 2, verneed_table(m_writer, m_strings, needed), 0, ".dynstr",
          static_cast<std::uint32_t>(needed.size()));
    }
  }

  static std::uint64_t version_index(const Symbol& symbol, const std::vector<std::string>& defined,
                                     const std::vector<NeededVersions>& needed) {
    if (symbol.binding == 0) return 0;
    if (symbol.version.empty()) return 1;
    if (symbol.defined) {
      const auto place = std::find(defined.begin() + 1, defined.end(), symbol.version);
      return static_cast<std::uint64_t>(place - defined.begin() + 1) | (symbol.hidden_version ? 0x8000U : 0U);
    }
    for (const NeededVersions& file : needed) {
      for (const NeededVersions::One& one : file.versions) {
        if (file.file == symbol.file && one.name == symbol.version) return one.index;
      }
    }
    return 1;
  }

  std::string own_name() const {
    for (const ElfBuilder::Tag& tag : m_b.m_tags) {
      if (tag.tag == 14) return *tag.text;
    }
    return "unnamed";
  }

  struct TableShape {
    std::string_view name;
    std::uint32_t type;
    std::uint64_t words;
  };
  static TableShape shape(Table table) {
    switch (table) {
      case Table::rela: return {".rela.dyn", 4, 3};
      case Table::rel: return {".rel.dyn", 9, 2};
      case Table::relr: return {".relr.dyn", 19, 1};
      case Table::plt: return {".rela.plt", 4, 3};
    }
    return {};
  }

  void make_relocation_tables() {
    for (const Table table : {Table::rela, Table::rel, Table::relr, Table::plt}) {
      const auto count = static_cast<std::uint64_t>(std::count_if(m_b.m_relocations.begin(), m_b.m_relocations.end(),
                                                                  [&](const auto& r) { return r.table == table; }));
      if (count == 0) continue;
      const TableShape s = shape(table);
      const std::uint64_t entry = s.words * m_writer.word_size();
      add(s.name, s.type, 2, std::string(count * entry, '\0'), entry, ".dynsym");
    }
  }

  void order_sections() {
    const auto rank = [](const Placed& p) {
      if (!p.is_loaded()) return 3;
      if (p.is_nobits()) return 2;
      return p.is_writable() ? 1 : 0;
    };
    std::stable_sort(m_placed.begin(), m_placed.end(),
                     [&](const Placed& a, const Placed& b) { return rank(a) < rank(b); });
  }

  // Header and program headers, then the sections; the file stays small because only addresses skip a page between
  // the read-only and the writable part.
  void place_sections() {
    m_segment_count = count_segments();
    std::uint64_t at = header_size() + m_segment_count * program_header_size();
    std::uint64_t bias = 0;
    std::uint64_t behind_nobits = 0;
    for (Placed& placed : m_placed) {
      if (placed.is_loaded() && (placed.is_writable() || placed.is_nobits())) bias = k_page;
      if (placed.is_nobits()) {
        placed.offset = at;
        placed.address = round_up(std::max(behind_nobits, at + bias), placed.section.align);
        behind_nobits = placed.address + placed.size();
        continue;
      }
      at = round_up(at, placed.section.align);
      placed.offset = at;
      placed.address = placed.is_loaded() && m_segment_count > 0 ? at + bias : 0;
      at += placed.size();
    }
    m_end = at;
  }

  std::uint64_t count_segments() const {
    if (m_b.m_type == 1) return 0;
    std::uint64_t count = 1 + (m_b.m_dynamic ? 1 : 0) + (m_b.m_phdr_segment ? 1 : 0) + (m_b.m_stack_flags ? 1 : 0);
    bool has_writable = false;
    for (const Placed& placed : m_placed) {
      has_writable |= placed.is_loaded() && (placed.is_writable() || placed.is_nobits());
      count += placed.section.type == 7 && placed.is_loaded() ? 1 : 0;
      count += placed.section.name == ".interp" ? 1 : 0;
    }
    return count + (has_writable ? 1 : 0);
  }

  void make_segments() {
    if (m_segment_count == 0) return;
    Segment text{1, 4, 0, 0, header_size() + m_segment_count * program_header_size(), 0, k_page};
    Segment data{1, 6, 0, 0, 0, 0, k_page};
    std::vector<Segment> others;
    for (const Placed& p : m_placed) {
      if (!p.is_loaded()) continue;
      Segment& load = p.is_writable() || p.is_nobits() ? data : text;
      if (&load == &data && data.offset == 0) data.offset = p.offset, data.address = p.address;
      if ((p.section.flags & 4) != 0) load.flags |= 1;
      if (!p.is_nobits()) load.file_size = p.offset + p.size() - load.offset;
      load.memory_size = p.address + p.size() - load.address;
      const Segment same{0, 4, p.offset, p.address, p.size(), p.size(), p.section.align};
      if (p.section.type == 7) others.push_back(same), others.back().type = 4;
      if (p.section.name == ".interp") others.push_back(same), others.back().type = 3;
      if (p.section.name == ".dynamic") others.push_back(same), others.back().type = 2, others.back().flags = 6;
    }
    text.memory_size = std::max(text.file_size, text.memory_size);
    const std::uint64_t table = m_segment_count * program_header_size();
    if (m_b.m_phdr_segment) m_segments.push_back({6, 4, header_size(), header_size(), table, table, 8});
    m_segments.push_back(text);
    if (data.offset != 0) m_segments.push_back(data);
    m_segments.insert(m_segments.end(), others.begin(), others.end());
    if (m_b.m_stack_flags) m_segments.push_back({0x6474e551, *m_b.m_stack_flags, 0, 0, 0, 0, 16});
  }

  void fill_symbols() {
    if (!m_b.m_dynamic) return;
    ElfWriter out = m_writer.empty();
    for (const Symbol& symbol : m_symbols) {
      const std::uint64_t index = symbol.section.empty() ? 0xfff1 : index_of(symbol.section);
      const std::uint64_t value = symbol.section.empty() ? symbol.value : find(symbol.section).address + symbol.value;
      const auto info = static_cast<std::uint8_t>(symbol.binding << 4 | symbol.type);
      out.u32(m_strings.add(symbol.name));
      if (m_b.m_is_64bit) {
        out.u8(info), out.u8(symbol.visibility), out.u16(symbol.defined ? index : 0);
        out.word(symbol.defined ? value : 0), out.word(symbol.size);
      } else {
        out.word(symbol.defined ? value : 0), out.word(symbol.size);
        out.u8(info), out.u8(symbol.visibility), out.u16(symbol.defined ? index : 0);
      }
    }
    find(".dynsym").section.contents = out.out();
  }

  void fill_relocations() {
    if (!m_b.m_dynamic) return;
    std::vector<std::uint64_t> relr;
    for (const Table table : {Table::rela, Table::rel, Table::relr, Table::plt}) {
      ElfWriter out = m_writer.empty();
      for (const ElfBuilder::Relocation& r : m_b.m_relocations) {
        if (r.table != table) continue;
        const std::uint64_t address = find(r.section).address + r.offset;
        const std::uint64_t value = r.target.empty() ? r.target_offset : find(r.target).address + r.target_offset;
        if (table != Table::rela || r.in_place) write_pointer(r, value);
        if (table == Table::relr) {
          relr.push_back(address);
          continue;
        }
        const PointerTypes types = pointer_types(m_b.m_machine);
        const std::uint64_t type = r.type.value_or(r.symbol.empty() ? types.relative : types.absolute);
        out.word(address);
        out.word(symbol_index(r.symbol) << (m_b.m_is_64bit ? 32 : 8) | type);
        if (table != Table::rel) out.word(value);
      }
      if (out.size() > 0) find(shape(table).name).section.contents = out.out();
    }
    std::sort(relr.begin(), relr.end());
    if (!relr.empty()) find(".relr.dyn").section.contents = relr_table(m_writer, relr);
  }

  void write_pointer(const ElfBuilder::Relocation& relocation, std::uint64_t value) {
    ElfWriter out = m_writer.empty();
    out.word(value);
    std::string& contents = find(relocation.section).section.contents;
    if (relocation.offset + out.size() > contents.size()) throw Error("a relocation lies outside its section");
    contents.replace(relocation.offset, out.size(), out.out());
  }

  std::uint64_t symbol_index(const std::string& name) const {
    if (name.empty()) return 0;
    for (std::uint64_t i = 1; i < m_symbols.size(); ++i) {
      if (m_symbols[i].name == name) return i;
    }
    throw Error("no symbol is called " + name);
  }

  void fill_dynamic() {
    if (!m_b.m_dynamic) return;
    ElfWriter out = m_writer.empty();
    const auto tag = [&](std::uint64_t number, std::uint64_t value) { out.word(number), out.word(value); };
    const auto address = [&](std::uint64_t number, std::string_view section) {
      if (index_of(section) != 0) tag(number, find(section).address);
      return index_of(section) != 0;
    };
    for (const ElfBuilder::Tag& t : m_b.m_tags) tag(t.tag, t.text ? m_strings.add(*t.text) : t.value);
    address(5, ".dynstr"), tag(10, find(".dynstr").size());
    address(6, ".dynsym"), tag(11, symbol_size());
    address(0x6ffffef5, ".gnu.hash"), address(4, ".hash");
    address(0x6ffffff0, ".gnu.version");
    if (address(0x6ffffffc, ".gnu.version_d")) tag(0x6ffffffd, m_defined_versions);
    if (address(0x6ffffffe, ".gnu.version_r")) tag(0x6fffffff, m_needed_files);
    const std::uint64_t word = m_writer.word_size();
    if (address(7, ".rela.dyn")) tag(8, find(".rela.dyn").size()), tag(9, 3 * word);
    if (address(17, ".rel.dyn")) tag(18, find(".rel.dyn").size()), tag(19, 2 * word);
    if (address(36, ".relr.dyn")) tag(35, find(".relr.dyn").size()), tag(37, word);
    if (address(23, ".rela.plt")) tag(2, find(".rela.plt").size()), tag(20, 7);
    out.pad_to(find(".dynamic").size());
    find(".dynamic").section.contents = out.out();
  }

  std::string emit() {
    StringTable names;
    std::vector<std::uint64_t> name_offsets;
    for (const Placed& placed : m_placed) name_offsets.push_back(names.add(placed.section.name));
    const std::uint64_t own_name = names.add(".shstrtab");
    const std::uint64_t headers = round_up(m_end + names.out().size(), 8);
    ElfWriter out = m_writer.empty();
    emit_header(out, m_b.m_section_headers ? headers : 0);
    for (const Segment& segment : m_segments) emit_segment(out, segment);
    for (const Placed& placed : m_placed) {
      if (placed.is_nobits()) continue;
      out.pad_to(placed.offset);
      out.bytes(placed.section.contents);
    }
    if (!m_b.m_section_headers) return out.out();
    out.pad_to(m_end);
    out.bytes(names.out());
    out.pad_to(headers);
    const std::uint64_t count = m_placed.size() + 2;
    emit_section(out, 0,
                 m_b.m_extended ? Placed{{.name = "",
                                          .type = 0,
                                          .flags = 0,
                                          .align = 0,
                                          .size = count,
                                          .info = static_cast<std::uint32_t>(m_segments.size())},
                                         0,
                                         0,
                                         {}}
                                : Placed{{.name = "", .type = 0, .flags = 0, .align = 0}, 0, 0, {}});
    for (std::uint64_t i = 0; i < m_placed.size(); ++i) emit_section(out, name_offsets[i], m_placed[i]);
    emit_section(out, own_name,
                 {{.name = ".shstrtab", .type = 3, .flags = 0, .align = 1, .contents = names.out()}, m_end, 0, {}});
    return out.out();
  }

  void emit_header(ElfWriter& out, std::uint64_t section_headers) const {
    const bool has_sections = section_headers != 0;
    const std::uint64_t sections = has_sections ? m_placed.size() + 2 : 0;
    out.bytes(
        "\x7f"
        "ELF");
    out.u8(m_b.m_is_64bit ? 2 : 1), out.u8(m_b.m_big_endian ? 2 : 1), out.u8(1);
    out.u8(m_b.m_abi), out.u8(m_b.m_abi_version);
    out.pad_to(16);
    out.u16(m_b.m_type), out.u16(m_b.m_machine), out.u32(1);
    out.word(0), out.word(m_segments.empty() ? 0 : header_size()), out.word(section_headers);
    out.u32(m_b.m_flags), out.u16(header_size()), out.u16(program_header_size());
    out.u16(m_b.m_extended ? 0xffff : m_segments.size());
    out.u16(section_header_size());
    out.u16(m_b.m_extended ? 0 : sections);
    out.u16(m_b.m_extended ? 0xffff : has_sections ? sections - 1 : 0);
  }

  void emit_segment(ElfWriter& out, const Segment& s) const {
    out.u32(s.type);
    if (m_b.m_is_64bit) out.u32(s.flags);
    out.word(s.offset), out.word(s.address), out.word(s.address), out.word(s.file_size), out.word(s.memory_size);
    if (!m_b.m_is_64bit) out.u32(s.flags);
    out.word(s.align);
  }

  void emit_section(ElfWriter& out, std::uint64_t name, const Placed& p) const {
    const bool is_null = p.section.type == 0;
    const std::uint64_t link = is_null && m_b.m_extended ? m_placed.size() + 1
                               : p.link.empty()          ? p.section.link
                                                         : index_of(p.link);
    out.u32(name), out.u32(p.section.type), out.word(p.section.flags), out.word(p.address), out.word(p.offset);
    out.word(is_null ? p.section.size : p.size()), out.u32(link), out.u32(p.section.info), out.word(p.section.align);
    out.word(p.section.entry_size);
  }

  std::uint64_t header_size() const { return m_b.m_is_64bit ? 64 : 52; }
  std::uint64_t program_header_size() const { return m_b.m_is_64bit ? 56 : 32; }
  std::uint64_t section_header_size() const { return m_b.m_is_64bit ? 64 : 40; }
  std::uint64_t symbol_size() const { return m_b.m_is_64bit ? 24 : 16; }

  const ElfBuilder& m_b;
  ElfWriter m_writer;
  StringTable m_strings;
  std::vector<Symbol> m_symbols;
  std::uint64_t m_first_hashed = 1;
  std::uint32_t m_buckets = 1;
  std::uint64_t m_defined_versions = 0;
  std::uint64_t m_needed_files = 0;
  std::vector<Placed> m_placed;
  std::vector<Segment> m_segments;
  std::uint64_t m_segment_count = 0;
  std::uint64_t m_end = 0;
};

ElfBuilder& ElfBuilder::tag(std::uint64_t tag, std::uint64_t value) {
  m_tags.push_back({tag, value, {}});
  return *this;
}

ElfBuilder& ElfBuilder::string_tag(std::uint64_t tag, std::string_view text) {
  m_tags.push_back({tag, 0, std::string(text)});
  return *this;
}

ElfBuilder& ElfBuilder::symbol(Symbol symbol) {
  m_symbols.push_back(std::move(symbol));
  return *this;
}

ElfBuilder& ElfBuilder::define(std::string_view name, std::string_view version) {
  return symbol({.name = std::string(name), .version = std::string(version)});
}

ElfBuilder& ElfBuilder::import(std::string_view name, std::string_view file, std::string_view version) {
  return symbol({.name = std::string(name),
                 .type = 0,
                 .defined = false,
                 .version = std::string(version),
                 .file = std::string(file)});
}

ElfBuilder& ElfBuilder::need_version(std::string_view file, std::string_view version, bool weak) {
  m_versions.push_back({std::string(file), std::string(version), weak});
  return *this;
}

ElfBuilder& ElfBuilder::define_version(std::string_view version) {
  m_versions.push_back({"", std::string(version), false});
  return *this;
}

ElfBuilder& ElfBuilder::section(Section section) {
  m_sections.push_back(std::move(section));
  return *this;
}

ElfBuilder& ElfBuilder::relocate(Relocation relocation) {
  m_relocations.push_back(std::move(relocation));
  return *this;
}

ElfBuilder& ElfBuilder::note(std::string_view section, std::string_view owner, std::uint32_t type,
                             std::string_view description, std::uint64_t align) {
  m_notes.push_back({std::string(section), std::string(owner), type, std::string(description), align});
  return *this;
}

ElfBuilder& ElfBuilder::interpreter(std::string_view path) {
  return section({.name = ".interp", .align = 1, .contents = std::string(path) + '\0'});
}

std::string ElfBuilder::build() const { return ElfImage(*this).build(); }

}  // namespace wheelsmith::testing
