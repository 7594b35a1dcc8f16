#include "elf/elf_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/attempt.h"
#include "base/error.h"
#include "elf/parser.h"

namespace wheelsmith::elf {

namespace {

constexpr std::size_t k_most_problems = 20;

}  // namespace

std::optional<std::string_view> Strings::at(std::uint64_t offset) {
  const Bytes rest = m_table.clamp(offset, m_budget);
  const void* end = rest.empty() ? nullptr : std::memchr(rest.data(), 0, rest.size());
  if (end == nullptr) {
    m_budget -= rest.size();
    return {};
  }
  const auto size = static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) - rest.data());
  m_budget -= size;
  return std::string_view(reinterpret_cast<const char*>(rest.data()), size);
}

template <class F>
void Parser<F>::problem(std::string sentence) {
  if (m_file.problems.size() < k_most_problems) m_file.problems.push_back(std::move(sentence));
}

// Sums beyond any file size are bogus.
template <class F>
void Parser<F>::describe_up_to(std::uint64_t offset, std::uint64_t size) {
  if (size <= ~offset) m_file.described_size = std::max(m_file.described_size, offset + size);
}

template <class F>
ElfFile Parser<F>::parse() {
  read_header();
  read_segments();
  read_sections();
  read_dynamic();
  read_notes();
  return std::move(m_file);
}

template <class F>
void Parser<F>::read_header() {
  if (m_file.m_bytes.size() < sizeof m_header) throw Error("the ELF header is truncated");
  m_header = m_file.m_bytes.get<typename F::Header>(0);
  m_file.is_64bit = F::is_64bit;
  m_file.endian = F::endian;
  m_file.os_abi = m_header.os_abi;
  m_file.abi_version = m_header.abi_version;
  m_file.type = m_header.type;
  m_file.machine = m_header.machine;
  m_file.flags = m_header.flags;
  m_file.program_headers_offset = m_header.program_headers;
  m_file.section_headers_offset = m_header.section_headers;
}

template <class F>
std::optional<typename F::SectionHeader> Parser<F>::first_section() const {
  if (m_header.section_headers == 0 ||
      !m_file.m_bytes.contains(m_header.section_headers, sizeof(typename F::SectionHeader)))
    return {};
  return m_file.m_bytes.get<typename F::SectionHeader>(m_header.section_headers);
}

template <class F>
void Parser<F>::read_segments() {
  using ProgramHeader = typename F::ProgramHeader;
  std::uint64_t count = m_header.program_header_count;
  if (count == 0xffff) {
    const auto first = first_section();
    if (!first) throw Error("the number of program headers is stored in a missing section header");
    count = first->info;
  }
  m_file.program_header_count = count;
  if (count == 0) return;
  if (m_header.program_header_size != sizeof(ProgramHeader)) {
    throw Error(fmt::format("program headers have {} bytes each instead of {}",
                            std::uint16_t{m_header.program_header_size}, sizeof(ProgramHeader)));
  }
  if (!m_file.m_bytes.contains(m_header.program_headers, count * sizeof(ProgramHeader))) {
    throw Error(
        fmt::format("{} program headers at offset {:#x} are outside the file", count, m_file.program_headers_offset));
  }
  Cursor cursor(m_file.m_bytes, m_header.program_headers);
  m_file.segments.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto raw = cursor.take<ProgramHeader>();
    const Segment segment{raw.type, raw.flags, raw.offset, raw.address, raw.file_size, raw.memory_size, raw.align};
    m_file.segments.push_back(segment);
    if (segment.type == k_segment_gnu_stack) m_file.executable_stack = (segment.flags & k_executable) != 0;
    if (segment.type == k_segment_interp && !m_file.interpreter) {
      m_file.interpreter = Strings(m_file.m_bytes.clamp(segment.offset, segment.file_size)).at(0);
      if (!m_file.interpreter) problem("the interpreter's path is outside the file or not terminated");
    }
  }
}

template <class F>
void Parser<F>::read_sections() {
  using SectionHeader = typename F::SectionHeader;
  if (m_header.section_headers == 0) return;
  const auto first = first_section();
  const std::uint64_t given = m_header.section_header_count;
  const std::uint64_t count = given == 0 && first ? std::uint64_t{first->size} : given;
  const std::uint64_t most = m_file.m_bytes.size() / sizeof(SectionHeader);
  if (m_header.section_header_size == sizeof(SectionHeader)) {
    describe_up_to(m_header.section_headers, std::clamp<std::uint64_t>(count, 1, 1 << 30) * sizeof(SectionHeader));
  }
  if (!first || count > most || m_header.section_header_size != sizeof(SectionHeader) ||
      !m_file.m_bytes.contains(m_header.section_headers, count * sizeof(SectionHeader))) {
    problem(fmt::format("the section header table ({} entries at offset {:#x}) is outside the file or invalid", count,
                        m_file.section_headers_offset));
    return;
  }
  Cursor cursor(m_file.m_bytes, m_header.section_headers);
  std::vector<std::uint32_t> names;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto raw = cursor.take<SectionHeader>();
    names.push_back(raw.name);
    m_file.sections.push_back(
        {{}, raw.type, raw.flags, raw.address, raw.offset, raw.size, raw.link, raw.info, raw.align, raw.entry_size});
    if (i > 0 && raw.type != k_section_null && raw.type != k_section_nobits) describe_up_to(raw.offset, raw.size);
  }
  const std::uint64_t names_index =
      m_header.section_names == 0xffff ? std::uint32_t{first->link} : std::uint32_t{m_header.section_names};
  Strings strings;
  if (names_index != 0 && names_index < count) {
    const Section& table = m_file.sections[names_index];
    strings = Strings(m_file.m_bytes.clamp(table.offset, table.type == k_section_nobits ? 0 : table.size));
  }
  std::uint64_t bad = 0;
  for (std::uint64_t i = 1; i < count; ++i) {
    Section& section = m_file.sections[i];
    const auto name = strings.at(names[i]);
    bad += name ? 0 : 1;
    section.name = name.value_or("");
    m_file.has_symbol_table |= section.type == k_section_symtab;
    m_file.has_debug_info |= section.name == ".debug_info" || section.name == ".zdebug_info";
  }
  if (bad > 0) problem(fmt::format("the names of {} of {} sections are outside their table", bad, count));
}

bool ElfFile::has_magic(Bytes bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

ElfFile ElfFile::parse(Bytes bytes) {
  if (!has_magic(bytes)) throw Error("not an ELF file");
  if (bytes.size() < sizeof(Elf32Le::Header)) throw Error("the ELF header is truncated");
  const int file_class = bytes.u8(4);
  const int data = bytes.u8(5);
  if (file_class == 1 && data == 1) return Parser<Elf32Le>(bytes).parse();
  if (file_class == 1 && data == 2) return Parser<Elf32Be>(bytes).parse();
  if (file_class == 2 && data == 1) return Parser<Elf64Le>(bytes).parse();
  if (file_class == 2 && data == 2) return Parser<Elf64Be>(bytes).parse();
  throw Error(fmt::format("unsupported ELF file: class {}, byte order {}", file_class, data));
}

std::optional<ElfFile> ElfFile::try_parse(Bytes bytes) {
  if (!has_magic(bytes)) return std::nullopt;  // most files: the first exception of a process takes milliseconds
  return if_valid([&] { return parse(bytes); });
}

std::string ElfFile::machine_name() const {
  const bool little = endian == Endian::little;
  switch (machine) {
    case k_machine_386: return "i686";
    case k_machine_x86_64: return is_64bit ? "x86_64" : "x32";
    case k_machine_aarch64: return little ? "aarch64" : "aarch64_be";
    case k_machine_arm: return little ? "armv7l" : "armv7b";
    case k_machine_ppc64: return little ? "ppc64le" : "ppc64";
    case k_machine_s390: return is_64bit ? "s390x" : "s390";
    case k_machine_riscv: return is_64bit ? "riscv64" : "riscv32";
    case k_machine_loongarch: return is_64bit ? "loongarch64" : "loongarch32";
    default: return fmt::format("machine {}", machine);
  }
}

Bytes ElfFile::mapped_from(std::uint64_t address) const {
  for (const Segment& s : segments) {
    if (s.type != k_segment_load || address < s.address || address - s.address >= s.file_size) continue;
    return m_bytes.clamp(s.offset, s.file_size).clamp(address - s.address, s.file_size);
  }
  return {};
}

std::optional<std::uint64_t> ElfFile::file_offset(std::uint64_t address, std::uint64_t size) const {
  const Bytes mapped = mapped_from(address);
  if (mapped.empty() || size > mapped.size()) return {};
  return static_cast<std::uint64_t>(mapped.data() - m_bytes.data());
}

const Section* ElfFile::find_section(std::string_view name) const {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

Bytes ElfFile::contents(const Section& section) const {
  if (section.type == k_section_nobits) return {};
  return m_bytes.slice(section.offset, section.size);
}

const VersionNeed* ElfFile::needed_version(const Symbol& symbol) const {
  const std::uint32_t place = symbol.version < m_need_by_index.size() ? m_need_by_index[symbol.version] : 0;
  return place == 0 ? nullptr : &version_needs[place - 1];
}

std::string_view ElfFile::defined_version(const Symbol& symbol) const {
  if (!symbol.is_defined() || symbol.version >= m_definition_by_index.size()) return {};
  const std::uint32_t place = m_definition_by_index[symbol.version];
  return place == 0 || version_definitions[place - 1].base ? std::string_view()
                                                           : version_definitions[place - 1].version;
}

bool ElfFile::is_python_extension(std::string_view file_stem) const {
  return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
    const std::string_view name = symbol.name;
    if (symbol.type != 2 || !symbol.is_exported()) return false;
    if (name.starts_with("PyInit_") || name.starts_with("PyInitU_") || name.starts_with("_cffi_pypyinit_")) return true;
    return !file_stem.empty() && name.starts_with("init") && name.substr(4) == file_stem;
  });
}

template class Parser<Elf32Le>;
template class Parser<Elf32Be>;
template class Parser<Elf64Le>;
template class Parser<Elf64Be>;

}  // namespace wheelsmith::elf
