#pragma once

#include <string>
#include <vector>

#include "rocm/artifacts.h"

namespace wheelsmith::rocm {

// Facts about the release as a whole, from its artifacts.
struct ReleaseManifest {
  bool kpack = false;
  std::string version;  // of the SDK, "" if unknown
};

// Throws Error if there is none.
ReleaseManifest read_release_manifest(const Artifacts& artifacts);

// The targets of families (or targets), sorted and without duplicates. Throws Error for an unknown name.
std::vector<std::string> targets_of_families(const std::vector<std::string>& families);

}  // namespace wheelsmith::rocm
