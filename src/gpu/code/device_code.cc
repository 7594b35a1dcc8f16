#include "gpu/code/device_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "gpu/code/device_elf.h"
#include "gpu/code/fatbin.h"
#include "gpu/code/hip_bundle.h"
#include "gpu/code/hip_walk.h"
#include "gpu/code/kpack.h"
#include "gpu/code/offload_binary.h"
#include "gpu/code/tally.h"
#include "gpu/code/unread_ranges.h"
#include "gpu/code/wrappers.h"

// Where device code is in a host file:
//
//   .nv_fatbin, __nv_relfatbin   NVIDIA containers; .nvFatBinSegment holds the wrappers that register them
//   any other loaded data        NVIDIA containers that the library loads by itself: 266 MB of libcufft are in .ldata,
//                                78 MB of libcublasLt in .cask_resource. Code and debug information are not searched
//   .hip_fatbin                  HIP bundles; .hipFatBinSegment holds the wrappers. NOBITS when the code was split off
//                                into kpack archives, which .rocm_kpack_ref then names
//   __CLANG_OFFLOAD_BUNDLE__ID, .llvm.offloading      in objects that are yet to be linked (RDC)
//
// In a file without section headers the LOAD segments are searched.

namespace wheelsmith::gpu {
namespace {

constexpr std::string_view k_linked_section = ".nv_fatbin";
constexpr std::string_view k_relocatable_section = "__nv_relfatbin";

// A region of the file and its load address.
struct Region {
  Bytes bytes;
  std::uint64_t address = 0;
  std::uint64_t place_shift = 0;  // from the start of the section, for messages
  std::string_view section;
  bool holds_nvidia = false;  // by its name; every broken container is reported then
};

std::string place_name(const Region& region, std::uint64_t offset) {
  const std::uint64_t at = region.place_shift + offset;
  return region.section.empty() ? fmt::format("{:#x}", at) : fmt::format("{:#x} in {}", at, printable(region.section));
}

Arch amd_arch(std::string target) {
  Arch arch;
  arch.vendor = Vendor::amd;
  arch.target = std::move(target);
  return arch;
}

std::optional<CodeKind> code_kind(FatbinKind kind) {
  switch (kind) {
    case FatbinKind::ptx: return CodeKind::ptx;
    case FatbinKind::elf: return CodeKind::sass;
    case FatbinKind::ltoir: return CodeKind::ltoir;
    default: return std::nullopt;
  }
}

class DeviceCodeReader {
 public:
  DeviceCode finish() { return m_tally.finish(); }

  void read_nvidia(const Region& region, const std::vector<std::uint64_t>& wrapped) {
    FatbinWalk walk;
    walk.container = [&](const FatbinContainer& container) {
      CodeLocation place{region.section, false, region.section == k_relocatable_section};
      place.wrapped = std::binary_search(wrapped.begin(), wrapped.end(), region.address + container.offset);
      for (const FatbinEntry& entry : container.entries) add_entry(region, place, entry);
    };
    walk.broken = [&](std::uint64_t offset, std::uint64_t good_entries, const std::string& why) {
      if (good_entries == 0 && !region.holds_nvidia) return;
      problem([&] { return fmt::format("container at {}: {}", place_name(region, offset), why); });
    };
    walk_fatbins(region.bytes, walk);
  }

  // `must`: the bytes are expected to hold bundles; otherwise an apparently broken one is coincidence.
  void read_hip(const Region& region, const std::vector<std::uint64_t>& wrapped, bool must) {
    std::vector<std::uint64_t> starts;
    for (const std::uint64_t address : wrapped) {
      if (address >= region.address && address - region.address < region.bytes.size()) {
        starts.push_back(address - region.address);
      }
    }
    HipWalk walk;
    walk.bundle = [&](std::uint64_t offset, const HipBundle& bundle) {
      const CodeLocation place{region.section, std::binary_search(starts.begin(), starts.end(), offset), false};
      for (const HipCodeObject& object : bundle.objects) add_object(place, object);
    };
    walk.broken = [&](std::uint64_t offset, const std::string& why) {
      if (must) problem([&] { return fmt::format("bundle at {}: {}", place_name(region, offset), why); });
    };
    walk_hip_bundles(region.bytes, starts, m_budget, walk);
  }

  void read_kpack_archive(Bytes file) {
    guard("kpack archive", [&] {
      const KpackContents contents = read_kpack(file);
      for (const HipCodeObject& object : contents.objects) add_object({}, object);
      for (const std::string& sentence : contents.problems) m_tally.problem(sentence);
    });
  }

  // Whether the file itself is device code.
  bool read_device_elf(const elf::ElfFile& file) {
    const DeviceElfHeader header{file.machine, file.abi_version, file.flags};
    if (header.machine != elf::k_machine_cuda && header.machine != elf::k_machine_amdgpu) return false;
    guard("device code", [&] {
      if (const std::optional<Arch> arch = arch_of(header)) {
        const CodeLocation place{"", false, file.type == elf::k_type_rel};
        const CodeKind kind = arch->vendor == Vendor::amd ? CodeKind::hip : CodeKind::sass;
        m_tally.add(place, *arch, kind, file.bytes().size(), file.bytes().size());
      }
    });
    return true;
  }

  void read_host_elf(const elf::ElfFile& file) {
    std::vector<std::uint64_t> nvidia;
    std::vector<std::uint64_t> hip;
    guard(".nvFatBinSegment", [&] { nvidia = wrapper_targets(file, ".nvFatBinSegment", k_nvidia_wrapper); });
    guard(".hipFatBinSegment", [&] { hip = wrapper_targets(file, ".hipFatBinSegment", k_hip_wrapper); });

    if (file.sections.empty()) read_segments(file);
    // Dedicated device code sections come first, so that no other section can claim their bytes.
    for (const elf::Section& section : file.sections) read_device_section(file, section, nvidia, hip);
    for (const elf::Section& section : file.sections) {
      constexpr std::uint64_t k_relevant = elf::k_section_alloc | elf::k_section_exec | elf::k_section_compressed;
      if (section.type != elf::k_section_progbits || (section.flags & k_relevant) != elf::k_section_alloc) continue;
      if (!file.bytes().contains(section.offset, section.size)) continue;
      for (const Region& region : regions(file, section, false)) read_nvidia(region, nvidia);
    }
  }

 private:
  // A failure becomes a problem; the rest of the file is still read.
  template <class Action>
  void guard(std::string_view what, Action action) {
    try {
      action();
    } catch (const Error& error) {
      m_tally.problem(fmt::format("{}: {}", printable(what), error.what()));
    }
  }

  template <class MakeSentence>
  void problem(MakeSentence make) {
    m_tally.wants_problems() ? m_tally.problem(make()) : m_tally.count_problem();
  }

  void add_entry(const Region& region, const CodeLocation& place, const FatbinEntry& entry) {
    const std::optional<CodeKind> kind = code_kind(entry.kind);
    if (!kind) {
      problem([&] {
        return fmt::format("entry at {}: unknown kind {:#x}", place_name(region, entry.offset),
                           static_cast<std::uint16_t>(entry.kind));
      });
      return;
    }
    Arch arch;
    arch.number = entry.arch;
    arch.suffix = entry.suffix;
    m_tally.add(place, arch, *kind, entry.bytes, entry.unpacked_bytes);
  }

  void add_object(const CodeLocation& place, const HipCodeObject& object) {
    m_tally.add(place, amd_arch(object.target), CodeKind::hip, object.bytes, object.unpacked_bytes);
  }

  // The parts of the section that were not read yet.
  std::vector<Region> regions(const elf::ElfFile& file, const elf::Section& section, bool holds_nvidia) {
    std::vector<Region> result;
    const Bytes contents = file.contents(section);
    for (const Range& range : m_unread.take({section.offset, section.offset + contents.size()})) {
      const std::uint64_t shift = range.begin - section.offset;
      result.push_back(
          {contents.slice(shift, range.end - range.begin), section.address + shift, shift, section.name, holds_nvidia});
    }
    return result;
  }

  void read_device_section(const elf::ElfFile& file, const elf::Section& section,
                           const std::vector<std::uint64_t>& nvidia, const std::vector<std::uint64_t>& hip) {
    if (section.type == elf::k_section_nobits) return;
    guard(section.name, [&] {
      if (section.name == k_linked_section || section.name == k_relocatable_section) {
        for (const Region& region : regions(file, section, true)) read_nvidia(region, nvidia);
      } else if (section.name == ".hip_fatbin") {
        for (const Region& region : regions(file, section, false)) read_hip(region, hip, true);
      } else if (section.name == ".rocm_kpack_ref") {
        for (const Region& region : regions(file, section, false)) {
          m_tally.set_kpack(read_kpack_reference(region.bytes));
        }
      } else if (section.name == ".llvm.offloading") {
        for (const Region& region : regions(file, section, false)) {
          const CodeLocation place{section.name, false, true};
          for (const HipCodeObject& object : read_offload_binaries(region.bytes)) add_object(place, object);
        }
      } else if (section.name.starts_with(k_bundle_magic)) {
        const std::string target = target_of_entry_id(section.name.substr(k_bundle_magic.size()));
        const CodeLocation place{k_bundle_magic, false, true};
        const std::uint64_t size = file.contents(section).size();
        if (!target.empty()) add_object(place, {target, size, size});
      }
    });
  }

  void read_segments(const elf::ElfFile& file) {
    for (const elf::Segment& segment : file.segments) {
      if (segment.type != elf::k_segment_load) continue;
      const Bytes contents = file.bytes().clamp(segment.offset, segment.file_size);
      for (const Range& range : m_unread.take({segment.offset, segment.offset + contents.size()})) {
        const std::uint64_t shift = range.begin - segment.offset;
        const Region region{contents.slice(shift, range.end - range.begin), segment.address + shift, range.begin, "",
                            false};
        read_nvidia(region, {});
        read_hip(region, {}, false);
      }
    }
  }

  Tally m_tally;
  UnreadRanges m_unread;
  UnpackBudget m_budget;
};

}  // namespace

FileKind file_kind(Bytes head) {
  if (elf::ElfFile::has_magic(head)) return FileKind::elf;
  if (head.starts_with(k_fatbin_magic)) return FileKind::nvidia_fatbin;
  if (head.starts_with(k_bundle_magic)) return FileKind::hip_bundle;
  if (head.starts_with(k_compressed_bundle_magic)) return FileKind::hip_compressed_bundle;
  if (head.starts_with(k_kpack_magic)) return FileKind::kpack;
  return FileKind::other;
}

DeviceCode read_device_code(const elf::ElfFile& file) {
  DeviceCodeReader reader;
  if (!reader.read_device_elf(file)) reader.read_host_elf(file);
  return reader.finish();
}

DeviceCode read_device_code(FileKind kind, Bytes file) {
  DeviceCodeReader reader;
  switch (kind) {
    case FileKind::other: break;
    case FileKind::elf: return read_device_code(elf::ElfFile::parse(file));
    case FileKind::nvidia_fatbin: reader.read_nvidia({file, 0, 0, "", true}, {}); break;
    case FileKind::hip_bundle:
    case FileKind::hip_compressed_bundle: reader.read_hip({file, 0, 0, "", false}, {}, true); break;
    case FileKind::kpack: reader.read_kpack_archive(file); break;
  }
  return reader.finish();
}

}  // namespace wheelsmith::gpu
