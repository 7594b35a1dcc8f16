#include "gpu/slim/slim.h"

// Removes device code that the kept GPUs do not run.
//
//   file ── containers ── kept_pieces: which entries stay ── replacements ── Splice ── prove_slim
//
// What was run on a GPU (H200, CUDA 13.0) decides how: a container whose entries were moved up, whose size was lowered
// and whose tail is zero works, under lazy and eager loading; so does an empty one. An entry with a zero header hangs
// the runtime, and a wrong architecture number breaks it. So entries are removed completely or not at all.
//
//   host library     containers that a wrapper in .nvFatBinSegment or .hipFatBinSegment registers. Others are loaded by
//                    the library itself, in undocumented ways, and stay. Freed space becomes zeros, which deflate
//                    to nothing; of NVIDIA's main section it is cut out where that is safe (shorten.cc)
//   __nv_relfatbin   relocatable code, which the driver links at run time for a GPU that has no linked code. If every
//                    linked container has SASS for every kept GPU, that never happens, and it can go; requested PTX
//                    stays
//   device code      a fat binary, bundle or archive is rebuilt; a cubin or code object stays or goes as a whole
//
// Everything is compared with the old file before it is returned (prove_slim).

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/error.h"
#include "gpu/code/device_elf.h"
#include "gpu/code/wrappers.h"
#include "gpu/slim/containers.h"

namespace wheelsmith::gpu {

namespace {

constexpr std::string_view k_linked = ".nv_fatbin";
constexpr std::string_view k_relocatable = "__nv_relfatbin";

class HostSlimmer {
 public:
  HostSlimmer(const elf::ElfFile& file, const KeepSet& keep, const SlimOptions& options)
      : m_file(file), m_keep(keep), m_options(options) {}

  Slimmed run() {
    plan_nvidia();
    plan_hip();
    m_result.code = m_tally.finish();
    build();
    return std::move(m_result);
  }

 private:
  [[nodiscard]] const elf::Section* section_named(std::string_view name) const {
    const elf::Section* section = m_file.find_section(name);
    const bool usable = section != nullptr && section->type == elf::k_section_progbits &&
                        (section->flags & elf::k_section_compressed) == 0 &&
                        m_file.bytes().contains(section->offset, section->size);
    return usable ? section : nullptr;
  }

  void plan_nvidia() {
    if (m_file.type == elf::k_type_rel) return;  // an object: the linker still needs everything
    const std::vector<std::uint64_t> wrapped = wrapper_targets(m_file, ".nvFatBinSegment", k_nvidia_wrapper);
    const auto read = [&](std::string_view name) -> FatbinSection {
      const elf::Section* section = section_named(name);
      if (section == nullptr) return {};
      return read_fatbin_section(std::string(name), m_file.contents(*section), section->offset, section->address,
                                 wrapped);
    };
    m_linked = read(k_linked);
    m_relocatable = read(k_relocatable);
    for (FatbinPlan& container : m_linked.containers) decide(container);
    const bool links_at_run_time = needs_link_at_run_time();
    for (FatbinPlan& container : m_relocatable.containers) decide_relocatable(container, links_at_run_time);
    count(m_linked);
    count(m_relocatable);
    if (m_linked.broken || m_relocatable.broken)
      m_result.notes.emplace_back("it has device code that cannot be read, which stays");
  }

  void decide(FatbinPlan& container) {
    if (!container.editable || !m_keep.names(Vendor::nvidia)) return;
    const std::vector<CodePiece> known = container.known_pieces();
    const std::vector<bool> kept = kept_pieces(known, m_keep);
    for (std::size_t i = 0, at = 0; i < container.pieces.size(); ++i) {
      if (container.pieces[i]) container.kept[i] = kept[at++];
    }
  }

  // Whether some kept GPU finds no SASS in some linked container.
  [[nodiscard]] bool needs_link_at_run_time() const {
    if (m_linked.broken) return true;
    return std::ranges::any_of(m_linked.containers, [&](const FatbinPlan& container) {
      const std::vector<CodePiece> known = container.known_pieces();
      return std::ranges::any_of(m_keep.devices, [&](const Device& device) {
        return device.arch.vendor == Vendor::nvidia && !runs_natively(known, device);
      });
    });
  }

  void decide_relocatable(FatbinPlan& container, bool links_at_run_time) {
    if (!container.editable || !m_keep.names(Vendor::nvidia)) return;
    KeepSet needed = m_keep;
    if (!links_at_run_time) needed.devices.clear();
    const std::vector<CodePiece> known = container.known_pieces();
    const std::vector<bool> kept = kept_pieces(known, needed);
    for (std::size_t i = 0, at = 0; i < container.pieces.size(); ++i) {
      if (!container.pieces[i]) continue;
      container.kept[i] = kept[at] || (links_at_run_time && is_useful(known[at], m_keep));
      ++at;
    }
  }

  void count(const FatbinSection& section) {
    for (const FatbinPlan& container : section.containers) {
      for (std::size_t i = 0; i < container.pieces.size(); ++i) {
        if (container.pieces[i])
          m_tally.add(section.name, *container.pieces[i], container.entries[i].size, container.kept[i]);
      }
      note_devices(container.known_pieces(), m_keep, m_result);
    }
  }

  void plan_hip() {
    const elf::Section* section = section_named(".hip_fatbin");
    if (section == nullptr || m_file.type == elf::k_type_rel) return;
    std::vector<std::uint64_t> starts;
    for (const std::uint64_t target : wrapper_targets(m_file, ".hipFatBinSegment", k_hip_wrapper)) {
      if (target >= section->address && target - section->address < section->size)
        starts.push_back(target - section->address);
    }
    for (Replacement& one :
         slim_bundles(m_file.contents(*section), section->offset, ".hip_fatbin", starts, m_keep, m_result, m_tally))
      m_replacements.push_back(std::move(one));
  }

  static void compact(const FatbinSection& section, std::vector<Replacement>& into) {
    for (const FatbinPlan& container : section.containers) {
      if (!container.drops_nothing()) into.push_back(container.compacted());
    }
  }

  void build() {
    std::vector<Replacement> in_place = std::move(m_replacements);
    compact(m_relocatable, in_place);
    std::vector<Replacement> linked;
    compact(m_linked, linked);
    m_result.changed = !in_place.empty() || !linked.empty();
    if (!m_result.changed) return;
    const auto by_offset = [](const Replacement& a, const Replacement& b) { return a.offset < b.offset; };
    std::ranges::sort(in_place, by_offset);
    refuse_overlap(in_place);
    if (m_options.shorten && !linked.empty()) {
      std::string why_not;
      if (std::optional<Splice> splice = shorten(m_file, m_linked, in_place, why_not)) {
        m_result.splice = *std::move(splice);
        return;
      }
      if (!why_not.empty()) m_result.notes.push_back("zeros replace the dropped code, and its size stays: " + why_not);
    }
    in_place.insert(in_place.end(), linked.begin(), linked.end());
    std::ranges::sort(in_place, by_offset);
    refuse_overlap(in_place);
    append_range(m_result.splice, 0, m_file.bytes().size(), in_place);
  }

  static void refuse_overlap(const std::vector<Replacement>& sorted) {
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i].offset - sorted[i - 1].offset < sorted[i - 1].size) throw Error("its device code overlaps");
    }
  }

  const elf::ElfFile& m_file;
  const KeepSet& m_keep;
  SlimOptions m_options;
  FatbinSection m_linked, m_relocatable;
  std::vector<Replacement> m_replacements;
  ChangeTally m_tally;
  Slimmed m_result;
};

Slimmed slim_fatbin_file(Bytes bytes, const KeepSet& keep) {
  Slimmed result;
  ChangeTally tally;
  FatbinSection section = read_fatbin_section("", bytes, 0, 0, {});
  if (section.broken) throw Error("it is a fat binary with a container that cannot be read");
  std::uint64_t at = 0;
  bool kept_any = false;
  for (FatbinPlan& container : section.containers) {
    const std::vector<CodePiece> known = container.known_pieces();
    const std::vector<bool> kept = kept_pieces(known, keep);
    for (std::size_t i = 0, next = 0; i < container.pieces.size(); ++i) {
      if (container.pieces[i] && keep.names(Vendor::nvidia)) container.kept[i] = kept[next++];
      if (container.pieces[i]) tally.add("", *container.pieces[i], container.entries[i].size, container.kept[i]);
      kept_any |= container.kept[i];
    }
    note_devices(known, keep, result);
    result.splice.copy(at, container.offset - at);
    at = container.offset + container.size;
    if (container.drops_nothing()) {
      result.splice.copy(container.offset, container.size);
      continue;
    }
    result.changed = true;
    append_packed(result.splice, container.compacted());
  }
  result.splice.copy(at, bytes.size() - at);
  result.empty = result.changed && !kept_any;
  result.code = tally.finish();
  return result;
}

Slimmed slim_bundle_file(Bytes bytes, const KeepSet& keep) {
  Slimmed result;
  ChangeTally tally;
  const std::vector<Replacement> replacements = slim_bundles(bytes, 0, "", {}, keep, result, tally);
  result.code = tally.finish();
  result.changed = !replacements.empty();
  std::uint64_t at = 0;
  for (const Replacement& one : replacements) {
    result.splice.copy(at, one.offset - at);
    append_packed(result.splice, one);
    at = one.offset + one.size;
    // A bundle that follows starts at the alignment of the old one.
    if (at < bytes.size()) result.splice.zeros((4096 - result.splice.size() % 4096) % 4096);
  }
  result.splice.copy(at, bytes.size() - at);
  result.empty = result.changed && result.kept_bytes() == 0;
  return result;
}

// A cubin or code object: all or nothing.
Slimmed slim_device_elf(const elf::ElfFile& file, const Arch& arch, const KeepSet& keep) {
  Slimmed result;
  ChangeTally tally;
  const CodePiece piece{arch, arch.vendor == Vendor::amd ? CodeKind::hip : CodeKind::sass};
  const bool kept = !keep.names(arch.vendor) || is_useful(piece, keep) || file.type == elf::k_type_rel;
  tally.add("", piece, file.bytes().size(), kept);
  note_devices(std::span(&piece, 1), keep, result);
  result.changed = result.empty = !kept;
  result.code = tally.finish();
  return result;
}

Slimmed slim_elf(Bytes bytes, const KeepSet& keep, const SlimOptions& options) {
  const elf::ElfFile file = elf::ElfFile::parse(bytes);
  const DeviceElfHeader header{file.machine, file.abi_version, file.flags};
  if (const std::optional<Arch> arch = arch_of(header)) return slim_device_elf(file, *arch, keep);
  return HostSlimmer(file, keep, options).run();
}

}  // namespace

std::uint64_t Slimmed::code_bytes() const {
  std::uint64_t sum = 0;
  for (const CodeChange& change : code) sum += change.bytes;
  return sum;
}

std::uint64_t Slimmed::kept_bytes() const {
  std::uint64_t sum = 0;
  for (const CodeChange& change : code) sum += change.kept_bytes;
  return sum;
}

void note_devices(std::span<const CodePiece> container, const KeepSet& keep, Slimmed& result) {
  for (const Device& device : keep.devices) {
    const auto runs = [&](const CodePiece& piece) { return fit(piece.arch, piece.kind, device.arch) != Fit::none; };
    if (!result.runs_on.contains(device.arch) && std::ranges::any_of(container, runs))
      result.runs_on.insert(device.arch);
  }
}

Slimmed slim_code(Bytes file, const KeepSet& keep, const SlimOptions& options) {
  Slimmed result;
  switch (file_kind(file.clamp(0, 24))) {
    case FileKind::other: return result;
    case FileKind::elf: result = slim_elf(file, keep, options); break;
    case FileKind::nvidia_fatbin: result = slim_fatbin_file(file, keep); break;
    case FileKind::hip_bundle:
    case FileKind::hip_compressed_bundle: result = slim_bundle_file(file, keep); break;
    case FileKind::kpack: {
      ChangeTally tally;
      slim_kpack(file, keep, result, tally);
      result.code = tally.finish();
      break;
    }
  }
  if (!result.changed || result.empty) return result;
  const Buffer made = result.splice.apply(file);
  const std::vector<std::string> differences = prove_slim(file, made.bytes());
  if (differences.empty()) return result;
  if (!options.shorten) throw Error("the edit would not be safe: " + differences[0]);
  // Compacting in place changes much less.
  result = slim_code(file, keep, {.shorten = false});
  result.notes.push_back("zeros replace the dropped code, and its size stays: cutting it out would not be safe: " +
                         differences[0]);
  return result;
}

}  // namespace wheelsmith::gpu
