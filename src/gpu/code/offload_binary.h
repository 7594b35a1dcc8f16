#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "gpu/code/hip_bundle.h"

namespace wheelsmith::gpu {

// The AMD device code in a section .llvm.offloading of an object file. Throws Error.
std::vector<HipCodeObject> read_offload_binaries(Bytes section);

}  // namespace wheelsmith::gpu
