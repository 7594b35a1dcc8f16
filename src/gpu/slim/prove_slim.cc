#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/endian.h"
#include "base/error.h"
#include "base/text.h"
#include "elf/elf_format.h"
#include "elf/layout_check.h"
#include "gpu/code/fatbin.h"
#include "gpu/code/hip_bundle.h"
#include "gpu/code/wrappers.h"
#include "gpu/slim/bundle_entries.h"
#include "gpu/slim/containers.h"
#include "gpu/slim/slim.h"

// The proof that a slimmed file is the old one with less device code.
//
// It does not trust the editor: both files are read from scratch. Each wrapper must lead to a container whose entries
// are a subsequence of the old container's, byte for byte. Everything else that a process sees must be equal at equal
// addresses, except the pointers of the wrappers. What is not loaded (symbols, debug information, comments) must be
// equal section by section.

namespace wheelsmith::gpu {

namespace {

struct AddressRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class SlimProof {
 public:
  SlimProof(const elf::ElfFile& before, const elf::ElfFile& after) : m_a(before), m_b(after) {}

  std::vector<std::string> run() {
    compare_header();
    if (!m_said.empty()) return std::move(m_said);
    compare_sections();
    compare_nvidia();
    compare_hip();
    compare_memory();
    compare_layout();
    return std::move(m_said);
  }

 private:
  void say(std::string sentence) {
    if (m_said.size() < 20) m_said.push_back(std::move(sentence));
  }

  void compare_header() {
    if (m_a.is_64bit != m_b.is_64bit || m_a.endian != m_b.endian || m_a.type != m_b.type ||
        m_a.machine != m_b.machine || m_a.flags != m_b.flags || m_a.has_dynamic != m_b.has_dynamic ||
        m_a.sections.size() != m_b.sections.size() || m_a.symbols.size() != m_b.symbols.size())
      say("it is a different kind of file");
  }

  static bool is_code_section(std::string_view name) {
    return name == ".nv_fatbin" || name == "__nv_relfatbin" || name == ".hip_fatbin";
  }

  [[nodiscard]] static Bytes contents_of(const elf::ElfFile& file, const elf::Section& section) {
    return section.type == elf::k_section_nobits ? Bytes() : file.bytes().clamp(section.offset, section.size);
  }

  static bool are_same(Bytes a, Bytes b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
  }

  void compare_sections() {
    for (std::size_t i = 1; i < m_a.sections.size(); ++i) {
      const elf::Section& a = m_a.sections[i];
      const elf::Section& b = m_b.sections[i];
      const auto differs = [&](const char* what) { say(fmt::format("section {} has {}", printable(a.name), what)); };
      if (a.name != b.name || a.type != b.type || a.flags != b.flags || a.address != b.address || a.link != b.link ||
          a.info != b.info || a.align != b.align || a.entry_size != b.entry_size) {
        differs("a different header");
        continue;
      }
      if (is_code_section(a.name) && (a.flags & elf::k_section_alloc) != 0) {
        m_code.push_back({a.address, a.address + a.size});
        if (b.size > a.size) differs("grown");
        continue;
      }
      if (a.size != b.size) differs("a different size");
      if ((a.flags & elf::k_section_alloc) != 0 || are_same(contents_of(m_a, a), contents_of(m_b, b))) continue;
      if (a.type != elf::k_section_symtab || !same_symbols(a, b)) differs("different contents");
    }
  }

  // Symbols of containers have new values.
  [[nodiscard]] bool same_symbols(const elf::Section& a, const elf::Section& b) const {
    using Symbol = elf::Elf64Le::Symbol;
    if (!m_a.is_64bit || m_a.endian != Endian::little || a.size != b.size) return false;
    for (std::uint64_t at = 0; at + sizeof(Symbol) <= a.size; at += sizeof(Symbol)) {
      auto x = m_a.bytes().get<Symbol>(a.offset + at);
      const auto y = m_b.bytes().get<Symbol>(b.offset + at);
      if (is_code(x.value) && is_code(y.value)) x.value = y.value;
      if (std::memcmp(&x, &y, sizeof x) != 0) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_code(std::uint64_t address) const {
    return std::ranges::any_of(m_code,
                               [&](const AddressRange& one) { return address >= one.begin && address < one.end; });
  }

  // The wrappers of both files, one by one.
  template <class Compare>
  void compare_wrappers(std::string_view section, std::uint32_t magic, const Compare& compare) {
    const std::vector<WrapperPointer> a = wrapper_pointers(m_a, section, magic);
    const std::vector<WrapperPointer> b = wrapper_pointers(m_b, section, magic);
    if (a.size() != b.size()) return say(fmt::format("{} has {} wrappers instead of {}", section, b.size(), a.size()));
    std::map<std::uint64_t, std::uint64_t> seen;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].address != b[i].address || a[i].source != b[i].source)
        return say(fmt::format("wrapper {} of {} has moved", i, section));
      if (a[i].target != b[i].target) m_pointers.insert(a[i].address);
      const auto [known, is_new] = seen.emplace(a[i].target, b[i].target);
      if (!is_new && known->second != b[i].target) say(fmt::format("wrapper {} of {} has another target", i, section));
      if (is_new) compare(a[i].target, b[i].target);
    }
  }

  void compare_nvidia() {
    compare_wrappers(".nvFatBinSegment", k_nvidia_wrapper, [&](std::uint64_t before, std::uint64_t after) {
      compare_containers(m_a.mapped_from(before), m_b.mapped_from(after), before);
    });
  }

  void compare_containers(Bytes a, Bytes b, std::uint64_t address) {
    const auto whole = [](Bytes bytes) -> std::optional<FatbinPlan> {
      if (!bytes.starts_with(k_fatbin_magic) || !bytes.contains(8, 8)) return std::nullopt;
      const std::uint64_t size = bytes.get<le64>(8);
      if (!bytes.contains(16, size)) return std::nullopt;
      FatbinSection section = read_fatbin_section("", bytes.slice(0, 16 + size), 0, 0, {});
      if (section.broken || section.containers.size() != 1 || section.containers[0].size != 16 + size)
        return std::nullopt;
      return std::move(section.containers[0]);
    };
    const auto before = whole(a), after = whole(b);
    if (!before) {  // unreadable: must be the same
      if (!are_same(a.clamp(0, 64), b.clamp(0, 64)))
        say(fmt::format("the unreadable container at address {:#x} differs", address));
      return;
    }
    if (!after) return say(fmt::format("the container of address {:#x} cannot be read", address));
    std::size_t at = 0;
    for (const OldPart& entry : after->entries) {
      const Bytes wanted = b.slice(entry.offset, entry.size);
      while (at < before->entries.size() &&
             !are_same(a.slice(before->entries[at].offset, before->entries[at].size), wanted))
        ++at;
      if (at++ == before->entries.size())
        return say(fmt::format("the container of address {:#x} has an entry that differs", address));
    }
  }

  void compare_hip() {
    compare_wrappers(".hipFatBinSegment", k_hip_wrapper, [&](std::uint64_t before, std::uint64_t after) {
      const auto said = compare_bundles(m_a.mapped_from(before), m_b.mapped_from(after));
      if (!said.empty()) say(fmt::format("the bundle at address {:#x}: {}", before, said));
    });
  }

  // All bytes of the old LOAD segments, outside device code and the pointers of wrappers.
  void compare_memory() {
    std::vector<AddressRange> ignored = m_code;
    for (const std::uint64_t pointer : m_pointers) ignored.push_back({pointer, pointer + 8});
    const std::uint64_t rela = m_a.dynamic.value(elf::k_tag_rela).value_or(0);
    const std::uint64_t rela_size = m_a.dynamic.value(elf::k_tag_rela_size).value_or(0);
    if (!m_pointers.empty() && m_a.is_64bit && m_a.endian == Endian::little) {
      using Rela = elf::Elf64Le::Rela;
      const auto table = m_a.file_offset(rela, rela_size);
      for (std::uint64_t at = 0; table && at + sizeof(Rela) <= rela_size; at += sizeof(Rela)) {
        if (m_pointers.contains(m_a.bytes().get<Rela>(*table + at).address))
          ignored.push_back({rela + at + 16, rela + at + 24});
      }
    }
    const std::uint64_t header = m_a.is_64bit ? 64 : 52, entry = m_a.is_64bit ? 56 : 32;
    for (const elf::Segment& segment : m_a.segments) {
      if (segment.type != elf::k_segment_load) continue;
      if (segment.offset == 0) ignored.push_back({segment.address, segment.address + header});
      // patchelf puts the section headers into a segment.
      if (m_a.section_headers_offset >= segment.offset &&
          m_a.section_headers_offset - segment.offset < segment.file_size && !m_a.sections.empty()) {
        const std::uint64_t table = segment.address + (m_a.section_headers_offset - segment.offset);
        ignored.push_back({table, table + m_a.sections.size() * (m_a.is_64bit ? 64 : 40)});
      }
      // The table may get one more entry, if the space after it is unused.
      if (m_a.program_headers_offset < segment.offset) continue;
      const std::uint64_t into = m_a.program_headers_offset - segment.offset;
      const std::uint64_t count = std::max(m_a.program_header_count, m_b.program_header_count);
      if (into < segment.file_size) ignored.push_back({segment.address + into, segment.address + into + count * entry});
    }
    std::ranges::sort(ignored, {}, &AddressRange::begin);
    for (const elf::Segment& segment : m_a.segments) {
      if (segment.type == elf::k_segment_load) compare_segment(segment, ignored);
    }
  }

  void compare_segment(const elf::Segment& segment, const std::vector<AddressRange>& ignored) {
    std::uint64_t at = segment.address;
    const std::uint64_t end = segment.address + segment.file_size;
    for (const AddressRange& hole : ignored) {
      if (hole.begin >= end) break;
      if (hole.begin > at) compare_range(at, hole.begin, segment);
      at = std::max(at, hole.end);
    }
    if (at < end) compare_range(at, end, segment);
    if (segment.memory_size <= segment.file_size) return;
    // The zeros after it belong to the last part of it.
    const bool same_end = std::ranges::any_of(m_b.segments, [&](const elf::Segment& one) {
      return one.type == elf::k_segment_load && one.flags == segment.flags &&
             one.address + one.file_size == segment.address + segment.file_size &&
             one.address + one.memory_size == segment.address + segment.memory_size;
    });
    if (!same_end) say(fmt::format("the zeros after the segment at address {:#x} differ", segment.address));
  }

  void compare_range(std::uint64_t begin, std::uint64_t end, const elf::Segment& segment) {
    const auto a = m_a.file_offset(begin, end - begin);
    const auto b = m_b.file_offset(begin, end - begin);
    if (!a || !b || !are_same(m_a.bytes().slice(*a, end - begin), m_b.bytes().slice(*b, end - begin)))
      return say(fmt::format("the bytes at addresses {:#x} to {:#x} differ", begin, end));
    const bool same_flags = std::ranges::any_of(m_b.segments, [&](const elf::Segment& one) {
      return one.type == elf::k_segment_load && one.flags == segment.flags && begin >= one.address &&
             begin - one.address < one.file_size;
    });
    if (!same_flags) say(fmt::format("the bytes at address {:#x} have different permissions", begin));
  }

  void compare_layout() {
    // Segments other than LOAD: the same, except a PT_NOTE that gave up its slot.
    for (const elf::Segment& a : m_a.segments) {
      if (a.type == elf::k_segment_load || a.type == elf::k_segment_null || a.type == elf::k_segment_note ||
          a.type == elf::k_segment_phdr)
        continue;
      const bool found = std::ranges::any_of(m_b.segments, [&](const elf::Segment& b) {
        return a.type == b.type && a.flags == b.flags && a.address == b.address && a.file_size == b.file_size &&
               a.memory_size == b.memory_size && a.align == b.align;
      });
      if (!found) say(fmt::format("the segment of type {:#x} at address {:#x} differs", a.type, a.address));
    }
    const auto errors = [](const elf::ElfFile& file) {
      std::map<std::string, std::size_t> count;
      for (const Finding& finding : elf::check_layout(file, "file")) ++count[finding.id];
      return count;
    };
    const auto before = errors(m_a);
    for (const auto& [id, count] : errors(m_b)) {
      const auto known = before.find(id);
      if (count > (known == before.end() ? 0 : known->second)) say(fmt::format("it has a new problem: {}", id));
    }
  }

  const elf::ElfFile& m_a;
  const elf::ElfFile& m_b;
  std::vector<AddressRange> m_code;    // sections of device code
  std::set<std::uint64_t> m_pointers;  // of wrappers whose target moved
  std::vector<std::string> m_said;
};

// Standalone fat binaries: the same number of containers, each a subsequence.
std::vector<std::string> prove_fatbin_file(Bytes original, Bytes slimmed) {
  const FatbinSection a = read_fatbin_section("", original, 0, 0, {}), b = read_fatbin_section("", slimmed, 0, 0, {});
  if (a.broken || b.broken || a.containers.size() != b.containers.size()) return {"its containers differ"};
  for (std::size_t i = 0; i < a.containers.size(); ++i) {
    std::size_t at = 0;
    const auto& old = a.containers[i].entries;
    for (const OldPart& entry : b.containers[i].entries) {
      const std::string_view wanted = slimmed.slice(entry.offset, entry.size).text();
      while (at < old.size() && original.slice(old[at].offset, old[at].size).text() != wanted) ++at;
      if (at++ >= old.size()) return {fmt::format("container {} has an entry that differs", i)};
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> prove_slim(Bytes original, Bytes slimmed) {
  const FileKind kind = file_kind(original.clamp(0, 24));
  if (file_kind(slimmed.clamp(0, 24)) != kind) return {"it is a different kind of file"};
  try {
    switch (kind) {
      case FileKind::other: throw Error("it has no device code");
      case FileKind::nvidia_fatbin: return prove_fatbin_file(original, slimmed);
      case FileKind::hip_bundle:
      case FileKind::hip_compressed_bundle: return prove_bundle_file(original, slimmed);
      case FileKind::kpack: return prove_kpack(original, slimmed);
      case FileKind::elf: break;
    }
    return SlimProof(elf::ElfFile::parse(original), elf::ElfFile::parse(slimmed)).run();
  } catch (const Error& error) {  // reported as a difference
    return {fmt::format("it cannot be read: {}", error.what())};
  }
}

}  // namespace wheelsmith::gpu
