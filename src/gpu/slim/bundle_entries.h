#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"

// HIP bundles as lists of entries, for those who change them.

namespace wheelsmith::gpu {

struct BundleEntry {
  std::string id;                      // "hipv4-amdgcn-amd-amdhsa--gfx90a"
  std::string target;                  // "" for the host
  std::uint64_t offset = 0, size = 0;  // of its code in the unpacked bundle
};

struct OpenBundle {
  std::uint64_t size = 0;  // in the file, from its start to its end
  Blob plain;              // the unpacked bundle
  std::vector<BundleEntry> entries;
  int version = 0;      // of the compressed form; 0: plain
  unsigned method = 0;  // of the compressed form
};

// The bundle at the start of the bytes, unpacked. Throws Error.
OpenBundle open_bundle(Bytes bytes);

// Empty if every entry of the bundle at the start of `b` is, in order, one of the bundle at the start of `a`, and all
// host entries are there; otherwise what differs.
std::string compare_bundles(Bytes a, Bytes b);
std::vector<std::string> prove_bundle_file(Bytes original, Bytes slimmed);
std::vector<std::string> prove_kpack(Bytes original, Bytes slimmed);

}  // namespace wheelsmith::gpu
