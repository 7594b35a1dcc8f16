#include "elf/prove.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "elf/edit_refusal.h"
#include "elf/edit_room.h"
#include "elf/edit_versions.h"
#include "elf/elf_format.h"
#include "elf/layout_check.h"
#include "elf/proof.h"

// The proof that an edited file is the same program.
//
// It does not trust the editor: it parses the new file from scratch and compares what a process would see. All bytes at
// all addresses must be the same, except the file header, the program headers, the dynamic tags and their strings, and
// the two names in version tables; those are compared by meaning: every segment, every tag, every symbol with its name
// and version, every section. It also checks the output of other editors, so tables that the loader finds through a tag
// may move, if their contents are equal and the tag points to them. Constants and code may not.

namespace wheelsmith::elf {

std::vector<std::string> Proof::run() {
  if (m_a.is_64bit != m_b.is_64bit || m_a.endian != m_b.endian || m_a.has_dynamic != m_b.has_dynamic)
    return {"it is a different kind of file"};
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

// Everything except the locations of the two header tables, the number of program headers, and the index of the name
// section.
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
  if (a != b) say("the file header differs");
}

void Proof::compare_loads() {
  for (const Segment& a : m_a.segments) {
    if (a.type != k_segment_load) continue;
    const auto b = std::find_if(m_b.segments.begin(), m_b.segments.end(), [&](const Segment& s) {
      return s.type == k_segment_load && s.address == a.address && s.memory_size >= a.memory_size;
    });
    if (b == m_b.segments.end()) {
      say(fmt::format("the LOAD segment at address {:#x} is missing or smaller", a.address));
      continue;
    }
    if (b->flags != a.flags) say(fmt::format("the LOAD segment at address {:#x} has different permissions", a.address));
    const bool has_zeros = a.memory_size > a.file_size;
    if (has_zeros && (b->file_size != a.file_size || b->memory_size != a.memory_size))
      say(fmt::format("the zeros after the LOAD segment at address {:#x} differ", a.address));
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
      say(fmt::format("the segment of type {:#x} at address {:#x} differs", a.type, a.address));
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

// Unused bytes after the program headers and the strings may have been overwritten, by this edit or by an earlier one
// whose tables moved again.
void Proof::pass_over_with_padding(std::uint64_t offset, std::uint64_t size) {
  constexpr std::uint64_t k_most = 0x10000;
  m_bytes.pass_over_file(offset, size + Rooms(m_a).free_from(offset + size, k_most, true));
}

void Proof::compare_bytes() {
  m_bytes.pass_over_file(0, m_a.is_64bit ? sizeof(Elf64Le::Header) : sizeof(Elf32Le::Header));
  const std::uint64_t entry = m_a.is_64bit ? sizeof(Elf64Le::ProgramHeader) : sizeof(Elf32Le::ProgramHeader);
  pass_over_with_padding(m_a.program_headers_offset, m_a.program_header_count * entry);
  for (const Segment& segment : m_a.segments) {
    if (segment.type == k_segment_dynamic) m_bytes.pass_over(segment.address, segment.file_size);
    // A tool that moved the program headers may have included reserved entries in their size.
    if (segment.type == k_segment_phdr && segment.offset == m_a.program_headers_offset && m_a.sections.empty())
      m_bytes.pass_over(segment.address, segment.file_size);
  }
  const std::uint64_t size = m_a.dynamic.value(k_tag_strings_size).value_or(0);
  const auto strings = m_a.file_offset(m_a.dynamic.value(k_tag_strings).value_or(0), size);
  if (strings) pass_over_with_padding(*strings, size);
  const VersionFields fields = version_fields(m_a);
  for (const VersionFields::Field& field : fields.need_files) m_bytes.pass_over_file(field.offset, 4);
  if (fields.base_name) {
    m_bytes.pass_over_file(fields.base_name->offset, 4);
    m_bytes.pass_over_file(fields.base_hash, 4);
  }
  m_bytes.compare();
}

// New layout problems that glibc would reject.
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

std::vector<std::string> prove(Bytes original, Bytes edited) {
  const ElfFile file = ElfFile::parse(original);
  if (const auto refusal = edit_refusal(file)) throw Error(*refusal);
  try {
    return Proof(file, ElfFile::parse(edited), {}).run();
  } catch (const Error& error) {
    return {fmt::format("it can no longer be read: {}", error.what())};
  }
}

}  // namespace wheelsmith::elf
