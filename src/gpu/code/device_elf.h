#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "gpu/arch.h"

namespace wheelsmith::gpu {

// The fields of an ELF header that identify its device.
struct DeviceElfHeader {
  std::uint16_t machine = 0;
  std::uint8_t abi_version = 0;
  std::uint32_t flags = 0;

  // From the start of a little-endian ELF64 file; nothing for other files.
  static std::optional<DeviceElfHeader> read(Bytes file);
};

// The architecture of a cubin or an AMD code object by its header; nothing for other machines. The header of a cubin
// does not distinguish sm_90 from sm_90a. Throws Error for an unknown processor.
std::optional<Arch> arch_of(const DeviceElfHeader& header);

}  // namespace wheelsmith::gpu
