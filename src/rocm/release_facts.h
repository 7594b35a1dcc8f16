#pragma once

#include <string>
#include <vector>

#include "rocm/artifacts.h"

namespace wheelsmith::rocm {

// What the artifacts say of the release as a whole.
struct ReleaseManifest {
  bool kpack = false;
  std::string version;  // of the SDK, "" where nothing tells
};

// Throws Error where there is none.
ReleaseManifest read_release_manifest(const Artifacts& artifacts);

// The targets that families (or targets) stand for, sorted, each once. Throws Error for a word that is neither.
std::vector<std::string> targets_of_families(const std::vector<std::string>& families);

}  // namespace wheelsmith::rocm
