#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "elf/elf_format.h"
#include "elf/proof.h"

// Compares tables by meaning: section headers, dynamic tags, symbols, versions, relocations.

namespace wheelsmith::elf {

namespace {

enum : std::uint32_t {
  k_section_strtab = 3,
  k_section_rela = 4,
  k_section_hash = 5,
  k_section_dynamic = 6,
  k_section_note = 7,
  k_section_rel = 9,
  k_section_dynsym = 11,
  k_section_relr = 19,
  k_section_gnu_hash = 0x6ffffff6,
  k_section_verdef = 0x6ffffffd,
  k_section_verneed = 0x6ffffffe,
  k_section_versym = 0x6fffffff,
};

}  // namespace

// Some editors sort the headers; sections are matched by name.
const Section* Proof::counterpart(std::size_t index) const {
  const std::string_view name = m_a.sections[index].name;
  if (index < m_b.sections.size() && m_b.sections[index].name == name) return &m_b.sections[index];
  return m_b.find_section(name);
}

void Proof::compare_sections() {
  if (m_a.sections.size() != m_b.sections.size()) {
    say(fmt::format("there are {} section headers instead of {}", m_b.sections.size(), m_a.sections.size()));
    return;
  }
  for (std::size_t i = 1; i < m_a.sections.size(); ++i) {
    const Section* b = counterpart(i);
    if (b == nullptr) {
      say(fmt::format("section {} is missing", printable(m_a.sections[i].name)));
    } else {
      compare_section(m_a.sections[i], *b);
    }
  }
}

void Proof::compare_section(const Section& a, const Section& b) {
  const auto differs = [&](std::string_view what) { say(fmt::format("section {} has {}", printable(a.name), what)); };
  if (a.type != b.type || a.flags != b.flags || a.entry_size != b.entry_size) return differs("a different type");
  const bool is_strings = a.type == k_section_strtab && a.address == m_a.dynamic.value(k_tag_strings);
  const bool is_edited = is_strings || a.type == k_section_dynamic;
  if (!is_edited && a.size != b.size) return differs("a different size");
  if ((a.flags & k_section_alloc) == 0) {
    if (a.type == k_section_symtab) return compare_symbol_table(a, b);
    if (a.type == k_section_nobits || a.name == ".shstrtab") return;
    if (m_a.bytes().contains(a.offset, a.size) && !m_bytes.are_equal(a.offset, b.offset, a.size))
      differs("different contents");
    return;
  }
  if (a.address == b.address) return;
  switch (a.type) {
    case k_section_strtab:
    case k_section_dynamic:
    case k_section_dynsym:
    case k_section_verneed:
    case k_section_verdef: break;  // compared as values
    case k_section_hash:
    case k_section_gnu_hash:
    case k_section_versym:
    case k_section_note:
    case k_section_rela:
    case k_section_rel:
    case k_section_relr:
      if (!m_bytes.are_equal(a.offset, b.offset, a.size)) return differs("different contents");
      break;
    default:
      if (a.name == ".interp" && m_bytes.are_equal(a.offset, b.offset, a.size)) break;
      return differs("a different address, and code may refer to the old one");
  }
  m_moved[a.address] = b.address;
  m_bytes.pass_over(a.address, a.size);
}

// Symbols of moved sections have the new address, and the new section index if headers were sorted.
void Proof::compare_symbol_table(const Section& a, const Section& b) {
  if (!m_a.bytes().contains(a.offset, a.size) || m_bytes.are_equal(a.offset, b.offset, a.size)) return;
  const auto home = [](const ElfFile& file, std::uint16_t index) {
    return index != 0 && index < file.sections.size() ? &file.sections[index] : nullptr;
  };
  const auto compare = [&]<class F>(F) {
    using Raw = typename F::Symbol;
    for (std::uint64_t at = 0; at + sizeof(Raw) <= a.size; at += sizeof(Raw)) {
      const auto x = m_a.bytes().get<Raw>(a.offset + at);
      auto y = m_b.bytes().get<Raw>(b.offset + at);
      const Section* old_home = home(m_a, x.section);
      const Section* new_home = home(m_b, y.section);
      if (old_home != nullptr && new_home != nullptr && old_home->name == new_home->name) {
        y.section = x.section;
        if (x.value == old_home->address && y.value == new_home->address) y.value = x.value;
      }
      if (std::memcmp(&x, &y, sizeof x) != 0)
        return say(fmt::format("entry {} of {} differs", at / sizeof(Raw), printable(a.name)));
    }
  };
  const bool little = m_a.endian == Endian::little;
  if (m_a.is_64bit) {
    little ? compare(Elf64Le()) : compare(Elf64Be());
  } else {
    little ? compare(Elf32Le()) : compare(Elf32Be());
  }
}

void Proof::compare_tags() {
  const auto others = [](const ElfFile& file) {
    std::vector<DynamicTag> tags;
    for (const DynamicTag& tag : file.dynamic.tags) {
      switch (tag.tag) {
        case k_tag_needed:
        case k_tag_soname:
        case k_tag_rpath:
        case k_tag_runpath:
        case k_tag_strings:
        case k_tag_strings_size: break;
        default: tags.push_back(tag);
      }
    }
    return tags;
  };
  const std::vector<DynamicTag> a = others(m_a), b = others(m_b);
  if (a.size() != b.size())
    return say(fmt::format("there are {} other dynamic tags instead of {}", b.size(), a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) compare_tag(a[i], b[i]);
  const auto ends_well = [](const ElfFile& file) {
    const Bytes strings = file.mapped_from(file.dynamic.value(k_tag_strings).value_or(0))
                              .clamp(0, file.dynamic.value(k_tag_strings_size).value_or(0));
    return !strings.empty() && strings.u8(strings.size() - 1) == 0;
  };
  if (ends_well(m_a) && !ends_well(m_b)) say("the dynamic strings do not end with a NUL");
  // A relocation table that moved; otherwise its bytes are compared in place.
  for (const std::uint64_t tag : {k_tag_rela, k_tag_rel, k_tag_relr, k_tag_plt}) {
    if (m_a.dynamic.value(tag) == m_b.dynamic.value(tag)) continue;
    constexpr std::uint64_t k_all = std::numeric_limits<std::uint64_t>::max();
    const auto equal = [](const Relocation& x, const Relocation& y) {
      return x.address == y.address && x.type == y.type && x.symbol == y.symbol && x.addend == y.addend;
    };
    const std::vector<Relocation> x = m_a.relocations_in(0, k_all), y = m_b.relocations_in(0, k_all);
    if (!std::equal(x.begin(), x.end(), y.begin(), y.end(), equal)) say("the relocations differ");
    break;
  }
}

void Proof::compare_tag(const DynamicTag& a, const DynamicTag& b) {
  if (a.tag != b.tag) return say(fmt::format("the dynamic tag {:#x} became {:#x}", a.tag, b.tag));
  if (a.value == b.value) return;
  const auto moved = m_moved.find(a.value);
  const bool is_address =
      std::find(std::begin(k_address_tags), std::end(k_address_tags), a.tag) != std::end(k_address_tags);
  if (is_address && moved != m_moved.end() && moved->second == b.value) return;
  say(fmt::format("the dynamic tag {:#x} is {:#x} instead of {:#x}", a.tag, b.value, a.value));
}

void Proof::compare_symbols() {
  // Without section headers and exported symbols the count is unknown; the bytes that follow may look like more
  // symbols.
  const bool guessed = m_a.sections.empty() && m_a.dynamic.value(k_tag_symbols) == m_b.dynamic.value(k_tag_symbols);
  if (guessed ? m_b.symbols.size() < m_a.symbols.size() : m_b.symbols.size() != m_a.symbols.size())
    return say(fmt::format("there are {} dynamic symbols instead of {}", m_b.symbols.size(), m_a.symbols.size()));
  const auto section_name = [](const ElfFile& file, std::uint16_t index) {
    return index < file.sections.size() ? file.sections[index].name : std::string_view();
  };
  for (std::size_t i = 0; i < m_a.symbols.size(); ++i) {
    const Symbol &a = m_a.symbols[i], &b = m_b.symbols[i];
    const bool same_section = a.section == b.section || (a.is_defined() && b.is_defined() &&
                                                         section_name(m_a, a.section) == section_name(m_b, b.section));
    if (a.name == b.name && a.binding == b.binding && a.type == b.type && a.visibility == b.visibility &&
        same_section && a.version == b.version && a.hidden_version == b.hidden_version && a.value == b.value &&
        a.size == b.size)
      continue;
    return say(fmt::format("dynamic symbol {} ({}) differs", i, printable(a.name)));
  }
}

void Proof::compare_versions() {
  const auto needs = [](const ElfFile& file, std::string_view name) {
    return std::find(file.dynamic.needed.begin(), file.dynamic.needed.end(), name) != file.dynamic.needed.end();
  };
  const auto same_need = [&](const VersionNeed& a, const VersionNeed& b) {
    const bool same_file = a.file == b.file ? needs(m_a, a.file) == needs(m_b, a.file) : needs(m_b, b.file);
    return same_file && a.version == b.version && a.index == b.index && a.weak == b.weak;
  };
  if (!std::equal(m_a.version_needs.begin(), m_a.version_needs.end(), m_b.version_needs.begin(),
                  m_b.version_needs.end(), same_need))
    say("the needed versions or their libraries differ");
  const auto same_definition = [&](const VersionDefinition& a, const VersionDefinition& b) {
    const bool renamed = a.base && m_b.dynamic.soname && b.version == *m_b.dynamic.soname;
    return (a.version == b.version || renamed) && a.index == b.index && a.base == b.base;
  };
  if (!std::equal(m_a.version_definitions.begin(), m_a.version_definitions.end(), m_b.version_definitions.begin(),
                  m_b.version_definitions.end(), same_definition))
    say("the defined versions differ");
}

}  // namespace wheelsmith::elf
