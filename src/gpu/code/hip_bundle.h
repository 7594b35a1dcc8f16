#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith::gpu {

inline constexpr std::string_view k_bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
inline constexpr std::string_view k_compressed_bundle_magic = "CCOB";

struct HipCodeObject {
  std::string target;                // "gfx90a:sramecc+:xnack-"
  std::uint64_t bytes = 0;           // in the file; its share in a compressed bundle (see hip_bundle.cc)
  std::uint64_t unpacked_bytes = 0;  // in memory
};

struct HipBundle {
  std::uint64_t size = 0;              // from its start to the end of its last byte
  std::vector<HipCodeObject> objects;  // for devices; host entries are skipped
};

// The remaining decompression budget of one file: tables of compressed bundles are a few hundred bytes, but hostile
// streams expand a thousandfold.
struct UnpackBudget {
  std::uint64_t tables = 256'000'000;
  std::uint64_t streams = 1'000'000'000;  // read only to find where they end
};

// The bundle, plain or compressed, at the start of the bytes; more may follow. Only the table of a compressed one is
// decompressed. Throws Error.
HipBundle read_hip_bundle(Bytes bytes, UnpackBudget& budget);

// The device's target id in the id of a bundle's entry ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"), with its features in
// alphabetical order; empty for a host entry. Throws Error for an invalid id.
std::string target_of_entry_id(std::string_view id);

// The target id with its features in alphabetical order; throws Error if invalid.
std::string normal_target_id(std::string_view target);

}  // namespace wheelsmith::gpu
