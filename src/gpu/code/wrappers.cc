#include "gpu/code/wrappers.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "base/endian.h"
#include "base/error.h"

// For each translation unit, the start-up code of a host library passes a wrapper to the runtime: a small struct in
// .nvFatBinSegment or .hipFatBinSegment that points to a container or bundle. The loader fills in the pointer, so its
// value is in a relocation (its addend, or a symbol's value plus the addend), or at the location itself (RELR, or a
// program at a fixed address). Sanitizers put red zones between wrappers, so they are found by their magic number at
// steps of 8, not read as an array.

namespace wheelsmith::gpu {
namespace {

struct Wrapper {
  le32 magic;
  le32 version;
  le64 data;
  le64 reserved;
};
static_assert(sizeof(Wrapper) == 24);

struct RelocationTypes {
  std::uint32_t relative = 0;
  std::uint32_t absolute = 0;
};

RelocationTypes relocation_types(std::uint16_t machine) {
  switch (machine) {
    case elf::k_machine_x86_64: return {8, 1};
    case elf::k_machine_aarch64: return {1027, 257};
    case elf::k_machine_ppc64: return {22, 38};
    default: return {};
  }
}

std::uint64_t pointer_value(const elf::ElfFile& file, const elf::Relocation& relocation, std::uint64_t in_place) {
  const RelocationTypes types = relocation_types(file.machine);
  const auto addend = static_cast<std::uint64_t>(relocation.addend);
  if (relocation.type == 0) return in_place;
  if (relocation.type == types.relative) return addend;
  if (relocation.type == types.absolute && relocation.symbol < file.symbols.size()) {
    return file.symbols[relocation.symbol].value + addend;
  }
  return in_place;
}

}  // namespace

std::vector<WrapperPointer> wrapper_pointers(const elf::ElfFile& file, std::string_view section, std::uint32_t magic) {
  const elf::Section* segment = file.find_section(section);
  // Object files have no addresses yet.
  if (segment == nullptr || file.type == elf::k_type_rel) return {};
  const Bytes bytes = file.contents(*segment);
  std::map<std::uint64_t, elf::Relocation> relocations;
  for (const elf::Relocation& relocation : file.relocations_in(segment->address, segment->address + bytes.size())) {
    relocations.emplace(relocation.address, relocation);
  }
  std::vector<WrapperPointer> pointers;
  for (std::uint64_t at = 0; bytes.contains(at, sizeof(Wrapper));) {
    const auto wrapper = bytes.get<Wrapper>(at);
    if (wrapper.magic != magic) {
      at += 8;
      continue;
    }
    WrapperPointer pointer;
    pointer.address = segment->address + at + offsetof(Wrapper, data);
    pointer.target = wrapper.data;
    const auto found = relocations.find(pointer.address);
    if (found != relocations.end()) {
      pointer.target = pointer_value(file, found->second, wrapper.data);
      if (found->second.type == relocation_types(file.machine).relative)
        pointer.source = WrapperPointer::Source::relative;
      else if (found->second.type != 0)
        pointer.source = WrapperPointer::Source::other;
    }
    pointers.push_back(pointer);
    at += sizeof(Wrapper);
  }
  return pointers;
}

std::vector<std::uint64_t> wrapper_targets(const elf::ElfFile& file, std::string_view section, std::uint32_t magic) {
  std::vector<std::uint64_t> targets;
  for (const WrapperPointer& pointer : wrapper_pointers(file, section, magic)) targets.push_back(pointer.target);
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

}  // namespace wheelsmith::gpu
