#pragma once

#include <span>
#include <string>
#include <vector>

#include "gpu/arch.h"
#include "gpu/coverage.h"

namespace wheelsmith::gpu {

// The GPUs that code is kept for.
struct KeepSet {
  std::vector<Device> devices;  // each keeps the code that the driver would choose for it
  std::vector<Arch> ptx;        // NVIDIA: PTX for GPUs newer than these is kept, too ("8.9+PTX")

  void add(const ArchList& list);
  void add(const Device& device);
  [[nodiscard]] bool empty() const { return devices.empty() && ptx.empty(); }
  [[nodiscard]] bool names(Vendor vendor) const;
  // "sm_90, sm_89+PTX, gfx942", sorted.
  [[nodiscard]] std::string to_string() const;
};

// Which pieces of one container (a translation unit's code, from which the driver chooses one piece) are kept: for each
// device the piece that it would run, and for each PTX request the newest PTX that reaches it. See keep.cc.
std::vector<bool> kept_pieces(std::span<const CodePiece> container, const KeepSet& keep);

// Whether code runs on one of the devices, natively or by JIT, or is requested PTX. For files that are loaded by name,
// where it is unknown which of them belong together.
bool is_useful(const CodePiece& piece, const KeepSet& keep);

// Whether the device finds SASS or a code object in the container, without JIT.
bool runs_natively(std::span<const CodePiece> container, const Device& device);

}  // namespace wheelsmith::gpu
