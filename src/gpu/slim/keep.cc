#include "gpu/slim/keep.h"

// Which device code may be dropped.
//
// The driver and the HIP runtime choose one piece of each container for a device; what they would choose is decided by
// the rules of arch.cc, never by names. Of several pieces that run natively they take the newest: an RTX 4090 (8.9)
// takes sm_86 rather than sm_80, so sm_80 may go. They are not documented to prefer sm_90a to sm_90 or sm_100f to
// sm_100, so the newest of each suffix stays. Code that only runs by JIT (PTX, SPIR-V) stays for a device that has
// nothing native, or on request. A device that found code in a container before finds code there afterwards: the piece
// that it would have run.
//
// LTO IR never runs by itself. It is input of a link at run time for its own architecture or a newer one, so it stays
// if it is not newer than every device.

#include <algorithm>
#include <set>

#include "base/text.h"

namespace wheelsmith::gpu {

namespace {

bool is_generic_target(const Arch& arch) { return arch.target.ends_with("-generic"); }

std::string processor_of(const Arch& arch) { return arch.target.substr(0, arch.target.find(':')); }

// Marks the newest piece of each suffix among those that `fits` accepts. Returns whether there was one.
template <class Fits>
bool keep_newest(std::span<const CodePiece> container, std::vector<bool>& kept, const Fits& fits) {
  bool found = false;
  for (const char* suffix : {"", "a", "f"}) {
    std::uint32_t newest = 0;
    for (const CodePiece& piece : container) {
      if (piece.arch.suffix == suffix && fits(piece)) newest = std::max(newest, piece.arch.number);
    }
    for (std::size_t i = 0; i < container.size(); ++i) {
      const CodePiece& piece = container[i];
      if (newest == 0 || piece.arch.suffix != suffix || piece.arch.number != newest || !fits(piece)) continue;
      kept[i] = found = true;
    }
  }
  return found;
}

void keep_for_nvidia(std::span<const CodePiece> container, const Arch& device, std::vector<bool>& kept) {
  const auto fits = [&](Fit wanted) {
    return [&device, wanted](const CodePiece& piece) { return fit(piece.arch, piece.kind, device) == wanted; };
  };
  if (!keep_newest(container, kept, fits(Fit::native))) keep_newest(container, kept, fits(Fit::jit));
  for (std::size_t i = 0; i < container.size(); ++i) {
    const CodePiece& piece = container[i];
    if (piece.kind == CodeKind::ltoir && piece.arch.number <= device.number) kept[i] = true;
  }
}

// All features of a processor that agree with the device stay: a device that was named without them may have either.
void keep_for_amd(std::span<const CodePiece> container, const Arch& device, std::vector<bool>& kept) {
  const auto mark = [&](const auto& accepts) {
    bool found = false;
    for (std::size_t i = 0; i < container.size(); ++i) {
      if (accepts(container[i])) kept[i] = found = true;
    }
    return found;
  };
  const auto native = [&](const CodePiece& piece) { return fit(piece.arch, piece.kind, device) == Fit::native; };
  if (mark([&](const CodePiece& piece) { return native(piece) && processor_of(piece.arch) == processor_of(device); }))
    return;
  if (mark([&](const CodePiece& piece) { return native(piece) && is_generic_target(piece.arch); })) return;
  mark([&](const CodePiece& piece) { return fit(piece.arch, piece.kind, device) != Fit::none; });
}

bool reaches(const CodePiece& piece, const Arch& request) {
  return piece.kind == CodeKind::ptx && fit(piece.arch, piece.kind, request) != Fit::none;
}

}  // namespace

void KeepSet::add(const Device& device) {
  if (std::ranges::none_of(devices, [&](const Device& one) { return one.arch == device.arch; }))
    devices.push_back(device);
}

void KeepSet::add(const ArchList& list) {
  for (const ArchRequest& request : list.requests) {
    Arch arch = request.arch;
    arch.suffix.clear();  // "9.0a" names a GPU of 9.0, which keeps its own sm_90a
    if (request.binary) add(Device{display_name(arch, CodeKind::sass), arch});
    if (request.ptx && std::ranges::find(ptx, request.arch) == ptx.end()) ptx.push_back(request.arch);
  }
}

bool KeepSet::names(Vendor vendor) const {
  return std::ranges::any_of(devices, [&](const Device& one) { return one.arch.vendor == vendor; }) ||
         (vendor == Vendor::nvidia && !ptx.empty());
}

std::string KeepSet::to_string() const {
  std::set<Arch> archs;
  for (const Device& device : devices) archs.insert(device.arch);
  std::vector<std::string> words;
  for (const Arch& arch : archs) words.push_back(display_name(arch, CodeKind::sass));
  for (const Arch& arch : std::set<Arch>(ptx.begin(), ptx.end()))
    words.push_back(display_name(arch, CodeKind::ptx) + " and newer by JIT");
  return join(words, ", ");
}

std::vector<bool> kept_pieces(std::span<const CodePiece> container, const KeepSet& keep) {
  std::vector<bool> kept(container.size(), false);
  for (const Device& device : keep.devices) {
    device.arch.vendor == Vendor::nvidia ? keep_for_nvidia(container, device.arch, kept)
                                         : keep_for_amd(container, device.arch, kept);
  }
  for (const Arch& request : keep.ptx)
    keep_newest(container, kept, [&](const CodePiece& piece) { return reaches(piece, request); });
  return kept;
}

bool is_useful(const CodePiece& piece, const KeepSet& keep) {
  const auto runs = [&](const Device& device) {
    return fit(piece.arch, piece.kind, device.arch) != Fit::none ||
           (piece.kind == CodeKind::ltoir && piece.arch.number <= device.arch.number);
  };
  return std::ranges::any_of(keep.devices, runs) ||
         std::ranges::any_of(keep.ptx, [&](const Arch& request) { return reaches(piece, request); });
}

bool runs_natively(std::span<const CodePiece> container, const Device& device) {
  return std::ranges::any_of(
      container, [&](const CodePiece& piece) { return fit(piece.arch, piece.kind, device.arch) == Fit::native; });
}

}  // namespace wheelsmith::gpu
