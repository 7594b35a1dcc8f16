#include "elf/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/text.h"
#include "elf/edit_refusal.h"
#include "elf/edit_room.h"
#include "elf/edit_versions.h"
#include "elf/elf_format.h"
#include "elf/layout_check.h"
#include "elf/prove_bytes.h"

// The proof that an edited file is the same program.
//
// It does not trust the editor: it reads the new file from nothing, and asks of it what a process would see. All bytes
// at all addresses are the old ones, but for the file header, the program headers, the dynamic tags and their strings,
// and the two names in version tables; and these are compared as what they mean: every segment, every tag, every symbol
// with its name and version, every section. It judges other editors as well, so tables that the loader finds by a tag
// may have another place, if they say the same there and the tag leads to it. Constants and code may not.

namespace wheelsmith::elf {

namespace {

constexpr std::size_t k_most_sentences = 20;
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

class Proof {
 public:
  Proof(const ElfFile& original, const ElfFile& edited, const std::vector<Range>& same)
      : m_a(original), m_b(edited), m_bytes(original, edited, same, [this](std::string s) { say(std::move(s)); }) {}

  std::vector<std::string> run() {
    if (m_a.is_64bit != m_b.is_64bit || m_a.endian != m_b.endian || m_a.has_dynamic != m_b.has_dynamic)
      return {"it is another kind of file"};
    compare_header();
    compare_loads();
    compare_segments();
    compare_sections();
    compare_tags();
    compare_symbols();
    compare_versions();
    compare_bytes();
    compare_layout();
    return std::move(m_said);
  }

 private:
  void say(std::string sentence) {
    if (m_said.size() < k_most_sentences) m_said.push_back(std::move(sentence));
  }
  void compare_header();
  void compare_loads();
  void compare_segments();
  void compare_sections();
  void compare_section(const Section& a, const Section& b);
  void compare_symbol_table(const Section& a, const Section& b);
  void compare_tags();
  void compare_tag(const DynamicTag& a, const DynamicTag& b);
  void compare_symbols();
  void compare_versions();
  void compare_bytes();
  void pass_over_program_headers();
  void compare_layout();
  [[nodiscard]] const Section* counterpart(std::size_t index) const;

  const ElfFile& m_a;
  const ElfFile& m_b;
  ByteProof m_bytes;
  std::map<std::uint64_t, std::uint64_t> m_moved;  // addresses of sections, old and new
  std::vector<std::string> m_said;
};

// All of it but where the two tables of headers are, how many program headers there are, and which section has names.
void Proof::compare_header() {
  std::string a(m_a.bytes().slice(0, m_a.is_64bit ? sizeof(Elf64Le::Header) : sizeof(Elf32Le::Header)).text());
  std::string b(m_b.bytes().slice(0, a.size()).text());
  const auto level = [&]<class F>(F) {
    const auto forget = [&](std::size_t offset, std::size_t size) {
      std::fill_n(a.begin() + static_cast<std::ptrdiff_t>(offset), size, '\0');
      std::fill_n(b.begin() + static_cast<std::ptrdiff_t>(offset), size, '\0');
    };
    forget(offsetof(typename F::Header, program_headers), sizeof(typename F::Word));
    forget(offsetof(typename F::Header, section_headers), sizeof(typename F::Word));
    forget(offsetof(typename F::Header, program_header_count), 2);
    forget(offsetof(typename F::Header, section_names), 2);
  };
  m_a.is_64bit ? level(Elf64Le()) : level(Elf32Le());
  if (a != b) say("the file header says something else");
}

void Proof::compare_loads() {
  for (const Segment& a : m_a.segments) {
    if (a.type != k_segment_load) continue;
    const auto b = std::find_if(m_b.segments.begin(), m_b.segments.end(), [&](const Segment& s) {
      return s.type == k_segment_load && s.address == a.address && s.memory_size >= a.memory_size;
    });
    if (b == m_b.segments.end()) {
      say(fmt::format("the LOAD segment at address {:#x} is gone or smaller", a.address));
      continue;
    }
    if (b->flags != a.flags) say(fmt::format("the LOAD segment at address {:#x} has other permissions", a.address));
    const bool has_zeros = a.memory_size > a.file_size;
    if (has_zeros && (b->file_size != a.file_size || b->memory_size != a.memory_size))
      say(fmt::format("the zeros behind the LOAD segment at address {:#x} are others", a.address));
  }
  for (const Segment& b : m_b.segments) {
    const bool is_old = std::any_of(m_a.segments.begin(), m_a.segments.end(), [&](const Segment& a) {
      return a.type == k_segment_load && a.address == b.address;
    });
    if (b.type == k_segment_load && !is_old && (b.flags & k_executable) != 0)
      say(fmt::format("the new LOAD segment at address {:#x} is executable", b.address));
  }
}

void Proof::compare_segments() {
  std::vector<const Segment*> left;
  for (const Segment& b : m_b.segments) left.push_back(&b);
  const auto is_ours = [](std::uint32_t type) {
    return type == k_segment_null || type == k_segment_load || type == k_segment_phdr || type == k_segment_dynamic;
  };
  for (const Segment& a : m_a.segments) {
    if (is_ours(a.type)) continue;
    const bool may_move = a.type == k_segment_note || a.type == k_segment_interp || a.type == k_segment_gnu_property;
    const auto same = std::find_if(left.begin(), left.end(), [&](const Segment* b) {
      if (b->type != a.type || b->flags != a.flags || b->file_size != a.file_size || b->memory_size != a.memory_size)
        return false;
      return b->address == a.address || (may_move && m_bytes.are_equal(a.offset, b->offset, a.file_size));
    });
    if (same == left.end()) {
      say(fmt::format("the segment of type {:#x} at address {:#x} is another", a.type, a.address));
    } else {
      left.erase(same);
    }
  }
  const auto is_writable = [](const ElfFile& file) {
    for (const Segment& dynamic : file.segments) {
      if (dynamic.type != k_segment_dynamic) continue;
      for (const Segment& load : file.segments) {
        if (load.type == k_segment_load && dynamic.address >= load.address &&
            dynamic.address - load.address < load.memory_size)
          return (load.flags & k_writable) != 0;
      }
    }
    return false;
  };
  if (is_writable(m_a) && !is_writable(m_b)) say("the dynamic tags are no longer writable");
}

// Some editors sort the headers; a name finds it again.
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
      say(fmt::format("the section {} is gone", printable(m_a.sections[i].name)));
    } else {
      compare_section(m_a.sections[i], *b);
    }
  }
}

void Proof::compare_section(const Section& a, const Section& b) {
  const auto differs = [&](std::string_view what) {
    say(fmt::format("the section {} has {}", printable(a.name), what));
  };
  if (a.type != b.type || a.flags != b.flags || a.entry_size != b.entry_size) return differs("another kind");
  const bool is_strings = a.type == k_section_strtab && a.address == m_a.dynamic.value(k_tag_strings);
  const bool is_edited = is_strings || a.type == k_section_dynamic;
  if (!is_edited && a.size != b.size) return differs("another size");
  if ((a.flags & k_section_alloc) == 0) {
    if (a.type == k_section_symtab) return compare_symbol_table(a, b);
    if (a.type == k_section_nobits || a.name == ".shstrtab") return;
    if (m_a.bytes().contains(a.offset, a.size) && !m_bytes.are_equal(a.offset, b.offset, a.size))
      differs("other contents");
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
      if (!m_bytes.are_equal(a.offset, b.offset, a.size)) return differs("other contents");
      break;
    default:
      if (a.name == ".interp" && m_bytes.are_equal(a.offset, b.offset, a.size)) break;
      return differs("another address, and code may refer to the old one");
  }
  m_moved[a.address] = b.address;
  m_bytes.pass_over(a.address, a.size);
}

// Symbols of what moved tell the new place, by the new number of its section where headers were sorted.
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
        return say(fmt::format("entry {} of {} is another", at / sizeof(Raw), printable(a.name)));
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
  // A relocation table that moved; else its bytes are compared where they are.
  for (const std::uint64_t tag : {k_tag_rela, k_tag_rel, k_tag_relr, k_tag_plt}) {
    if (m_a.dynamic.value(tag) == m_b.dynamic.value(tag)) continue;
    constexpr std::uint64_t k_all = std::numeric_limits<std::uint64_t>::max();
    const auto equal = [](const Relocation& x, const Relocation& y) {
      return x.address == y.address && x.type == y.type && x.symbol == y.symbol && x.addend == y.addend;
    };
    const std::vector<Relocation> x = m_a.relocations_in(0, k_all), y = m_b.relocations_in(0, k_all);
    if (!std::equal(x.begin(), x.end(), y.begin(), y.end(), equal)) say("the relocations are others");
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
  if (m_a.symbols.size() != m_b.symbols.size())
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
    return say(fmt::format("the dynamic symbol {} ({}) is another", i, printable(a.name)));
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
    say("the needed versions, or the files they are asked of, are others");
  const auto same_definition = [&](const VersionDefinition& a, const VersionDefinition& b) {
    const bool renamed = a.base && m_b.dynamic.soname && b.version == *m_b.dynamic.soname;
    return (a.version == b.version || renamed) && a.index == b.index && a.base == b.base;
  };
  if (!std::equal(m_a.version_definitions.begin(), m_a.version_definitions.end(), m_b.version_definitions.begin(),
                  m_b.version_definitions.end(), same_definition))
    say("the defined versions are others");
}

// Behind the old table only what was nobody's may be written over.
void Proof::pass_over_program_headers() {
  const std::uint64_t entry = m_a.is_64bit ? sizeof(Elf64Le::ProgramHeader) : sizeof(Elf32Le::ProgramHeader);
  const std::uint64_t offset = m_a.program_headers_offset;
  const std::uint64_t old_size = m_a.program_header_count * entry, new_size = m_b.program_header_count * entry;
  m_bytes.pass_over_file(offset, old_size);
  if (m_b.program_headers_offset != offset || new_size <= old_size) return;
  const bool is_spare = std::any_of(m_a.segments.begin(), m_a.segments.end(), [&](const Segment& s) {
    return s.type == k_segment_phdr && s.offset == offset && s.file_size >= new_size;
  });
  if (is_spare || Rooms(m_a).is_free(offset + old_size, new_size - old_size, true))
    m_bytes.pass_over_file(offset + old_size, new_size - old_size);
}

void Proof::compare_bytes() {
  m_bytes.pass_over_file(0, m_a.is_64bit ? sizeof(Elf64Le::Header) : sizeof(Elf32Le::Header));
  pass_over_program_headers();
  for (const Segment& segment : m_a.segments) {
    if (segment.type == k_segment_dynamic) m_bytes.pass_over(segment.address, segment.file_size);
  }
  const std::uint64_t strings = m_a.dynamic.value(k_tag_strings).value_or(0);
  const std::uint64_t old_size = m_a.dynamic.value(k_tag_strings_size).value_or(0);
  const std::uint64_t new_size = m_b.dynamic.value(k_tag_strings_size).value_or(0);
  m_bytes.pass_over(strings, old_size);
  if (m_b.dynamic.value(k_tag_strings) == strings && new_size > old_size) {
    const auto offset = m_a.file_offset(strings, old_size);
    if (offset && Rooms(m_a).is_free(*offset + old_size, new_size - old_size, true))
      m_bytes.pass_over(strings + old_size, new_size - old_size);
  }
  const VersionFields fields = version_fields(m_a);
  for (const VersionFields::Field& field : fields.need_files) m_bytes.pass_over_file(field.offset, 4);
  if (fields.base_name) {
    m_bytes.pass_over_file(fields.base_name->offset, 4);
    m_bytes.pass_over_file(fields.base_hash, 4);
  }
  m_bytes.compare();
}

// What glibc would refuse or stumble over, and what was not so before.
void Proof::compare_layout() {
  const auto judge = [](const ElfFile& file) {
    std::map<std::string, std::vector<std::string>> found;
    for (const Finding& finding : check_layout(file, "file")) {
      if (finding.severity == Severity::error || finding.id == "elf-dynamic-dangling" || finding.id == "elf-malformed")
        found[finding.id].push_back(finding.what);
    }
    return found;
  };
  const auto before = judge(m_a);
  for (const auto& [id, sentences] : judge(m_b)) {
    const auto known = before.find(id);
    if (sentences.size() > (known == before.end() ? 0 : known->second.size())) say(sentences.back());
  }
}

}  // namespace

std::vector<std::string> prove(Bytes original, Bytes edited) {
  const ElfFile file = ElfFile::parse(original);
  if (const auto refusal = edit_refusal(file)) throw Error(*refusal);
  try {
    return Proof(file, ElfFile::parse(edited), {}).run();
  } catch (const Error& error) {
    return {fmt::format("it can no longer be read: {}", error.what())};
  }
}

std::vector<std::string> prove_edit(const ElfFile& original, const Edited& edited) {
  constexpr std::uint64_t k_large = 1 << 20;
  const Bytes bytes = original.bytes();
  // Large contents that only code reads need not be there to be read again: zeros that cost no memory stand for them.
  std::vector<Range> same;
  for (const Section& section : original.sections) {
    if (section.type != k_section_progbits || section.size < k_large || !bytes.contains(section.offset, section.size))
      continue;
    const Range range{section.offset, section.offset + section.size};
    const bool is_touched = std::any_of(edited.patches.begin(), edited.patches.end(), [&](const Patch& patch) {
      return patch.offset < range.end && range.begin < patch.offset + patch.bytes.size();
    });
    if (!is_touched) same.push_back(range);
  }
  std::sort(same.begin(), same.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> apart;
  for (const Range& range : same) {
    if (apart.empty() || range.begin >= apart.back().end) apart.push_back(range);
  }
  struct Free {
    void operator()(std::uint8_t* memory) const { std::free(memory); }
  };
  const std::unique_ptr<std::uint8_t, Free> memory(static_cast<std::uint8_t*>(std::calloc(edited.size, 1)));
  if (!memory) throw Error(fmt::format("no memory for the {} bytes of the edited file", edited.size));
  std::uint64_t at = 0;
  const auto copy = [&](std::uint64_t end) {
    std::memcpy(memory.get() + at, bytes.slice(at, end - at).data(), end - at);
  };
  for (const Range& range : apart) {
    copy(range.begin);
    at = range.end;
  }
  copy(bytes.size());
  for (const Patch& patch : edited.patches)
    std::memcpy(memory.get() + patch.offset, patch.bytes.data(), patch.bytes.size());
  if (!edited.tail.empty()) std::memcpy(memory.get() + edited.tail_offset, edited.tail.data(), edited.tail.size());
  try {
    return Proof(original, ElfFile::parse(Bytes(memory.get(), edited.size)), apart).run();
  } catch (const Error& error) {
    return {fmt::format("it can no longer be read: {}", error.what())};
  }
}

}  // namespace wheelsmith::elf
