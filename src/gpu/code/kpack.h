#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "gpu/code/device_code.h"
#include "gpu/code/hip_bundle.h"

namespace wheelsmith::gpu {

inline constexpr std::string_view k_kpack_magic = "KPAK";

// The code objects of a .kpack archive. Throws Error if its header or table of contents cannot be read; an unreadable
// object becomes a sentence in `problems`.
struct KpackContents {
  std::vector<HipCodeObject> objects;
  std::vector<std::string> problems;
};
KpackContents read_kpack(Bytes archive);

// The section .rocm_kpack_ref of a host library whose device code is in .kpack archives. Throws Error.
DeviceCode::KpackReference read_kpack_reference(Bytes section);

}  // namespace wheelsmith::gpu
