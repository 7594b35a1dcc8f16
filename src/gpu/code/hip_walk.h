#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "gpu/code/hip_bundle.h"

namespace wheelsmith::gpu {

struct HipWalk {
  // `offset` is where it starts.
  std::function<void(std::uint64_t offset, const HipBundle&)> bundle;
  std::function<void(std::uint64_t offset, const std::string& why)> broken;
};

// Visits every bundle in the bytes: those at the given starts (sorted), and those found between them by their magic
// number at multiples of 8. A start may hold a bare AMD code object, which the runtime also accepts.
void walk_hip_bundles(Bytes bytes, const std::vector<std::uint64_t>& starts, UnpackBudget& budget,
                      const HipWalk& visit);

}  // namespace wheelsmith::gpu
