#include "elf/edit_refusal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "elf/edit.h"
#include "elf/elf_format.h"

// The magic number proves nothing. Real trees contain debug information without code, device code for another loader,
// static programs, object files, and data cut out of libraries; all of them start like a library.

namespace wheelsmith::elf {

namespace {

constexpr std::uint16_t k_machines[] = {k_machine_386,    k_machine_ppc64,   k_machine_s390,  k_machine_arm,
                                        k_machine_x86_64, k_machine_aarch64, k_machine_riscv, k_machine_loongarch};

std::optional<std::string> segments_refusal(const ElfFile& file) {
  const Segment* before = nullptr;
  for (const Segment& load : file.segments) {
    if (load.type != k_segment_load) continue;
    if (!file.bytes().contains(load.offset, load.file_size))
      return fmt::format("it is truncated: the segment at address {:#x} needs {} bytes at offset {:#x} of {}",
                         load.address, load.file_size, load.offset, file.bytes().size());
    const std::uint64_t most = file.is_64bit ? ~std::uint64_t{0} >> 1 : 0xffffffffU;
    if (load.memory_size < load.file_size || load.address > most || load.memory_size > most - load.address)
      return fmt::format("the segment at address {:#x} has {} bytes in the file and {} in memory", load.address,
                         load.file_size, load.memory_size);
    if (before != nullptr && load.address < before->address + before->memory_size)
      return fmt::format("the segment at address {:#x} precedes or overlaps the one at {:#x}", load.address,
                         before->address);
    before = &load;
  }
  if (before == nullptr) return "it has no LOAD segments";
  return {};
}

std::optional<std::string> dynamic_refusal(const ElfFile& file) {
  const auto count = [&](std::uint64_t tag) {
    return std::count_if(file.dynamic.tags.begin(), file.dynamic.tags.end(),
                         [&](const DynamicTag& t) { return t.tag == tag; });
  };
  for (const std::uint64_t tag : {k_tag_strings, k_tag_strings_size}) {
    if (count(tag) != 1) return fmt::format("it has {} dynamic tags {} instead of one", count(tag), tag);
  }
  const std::uint64_t size = *file.dynamic.value(k_tag_strings_size);
  if (size == 0 || !file.file_offset(*file.dynamic.value(k_tag_strings), size))
    return fmt::format("its dynamic strings ({} bytes) exceed the segment they start in", size);
  const Segment* dynamic = nullptr;
  for (const Segment& segment : file.segments) {
    if (segment.type != k_segment_dynamic) continue;
    if (dynamic != nullptr) return "it has two dynamic segments";
    dynamic = &segment;
  }
  if (file.file_offset(dynamic->address, dynamic->file_size) != dynamic->offset)
    return fmt::format("the offset and address {:#x} of its dynamic segment disagree", dynamic->address);
  return {};
}

}  // namespace

std::optional<std::string> edit_refusal(const ElfFile& file) {
  if (std::find(std::begin(k_machines), std::end(k_machines), file.machine) == std::end(k_machines))
    return fmt::format("it is for {}, whose loader is unknown", file.machine_name());
  if (file.type != k_type_dyn && file.type != k_type_exec) return "it is neither a shared library nor a program";
  if (!file.has_dynamic) return "it has no dynamic segment, so no loader reads its run path";
  const bool program = file.type == k_type_exec || file.dynamic.pie;
  if (program && !file.interpreter) return "it is a static program, so no loader reads its run path";
  constexpr std::uint32_t k_section_dynamic = 6;
  for (const Section& section : file.sections) {
    if (section.name == ".dynamic" && section.type != k_section_dynamic)
      return "it contains debug information only: its dynamic section is empty";
  }
  const auto has_problem = [&](std::string_view start) {
    return std::any_of(file.problems.begin(), file.problems.end(),
                       [&](const std::string& problem) { return problem.starts_with(start); });
  };
  for (const char* chain : {"the chain of needed versions", "the chain of defined versions"}) {
    if (has_problem(chain)) return fmt::format("{} is broken", chain);
  }
  for (const char* tag : {"DT_SONAME", "DT_RPATH", "DT_RUNPATH"}) {
    if (has_problem(tag)) return fmt::format("the string of its {} is outside the dynamic strings", tag);
  }
  if (has_problem("the section header table"))
    return fmt::format("it is truncated: its section headers at offset {:#x} are missing", file.section_headers_offset);
  if (auto refusal = segments_refusal(file)) return refusal;
  return dynamic_refusal(file);
}

bool can_edit(Bytes bytes) {
  const auto file = ElfFile::try_parse(bytes);
  return file && !edit_refusal(*file);
}

}  // namespace wheelsmith::elf
