#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "env/env.h"

// ROCm from the wheels of an index (rocm_wheels.cc explains how they fit together).

namespace wheelsmith::env {

struct RocmWanted {
  std::string specifiers{};                               // of the version; "" for the newest
  std::vector<std::string> targets{};                     // processors to include device code for: "gfx1151"
  std::vector<std::string> families{};                    // possible family names of the libraries, best first
  std::vector<std::string> extras{"libraries", "devel"};  // beside the core
  bool prereleases = true;
};
struct RocmWheels {
  std::string version;
  std::vector<std::string> requirements;  // "rocm-sdk-core==7.10.0", …
  std::string family;                     // of the libraries; "" if device code is in separate wheels
};
// The wheels of the fetcher's index that make up one ROCm of one version. Throws an Error that names what the index
// lacks.
RocmWheels choose_rocm_wheels(const RocmWanted& wanted, fetch::Fetcher& index);

// A ROCm to compile with, assembled from the environment's wheels: what `rocm-sdk path --root` would print, in a folder
// of the store. The environment is not changed.
std::filesystem::path make_rocm(const Environment& environment, store::Store& store);

}  // namespace wheelsmith::env
