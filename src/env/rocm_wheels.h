#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "env/env.h"

// ROCm from the wheels of an index (rocm_wheels.cc says how they are composed).

namespace wheelsmith::env {

struct RocmWanted {
  std::string specifiers{};                               // of the version; "" for the newest
  std::vector<std::string> targets{};                     // processors whose device code is wanted: "gfx1151"
  std::vector<std::string> families{};                    // names that libraries of one family may have, the best first
  std::vector<std::string> extras{"libraries", "devel"};  // beside the core
  bool prereleases = true;
};
struct RocmWheels {
  std::string version;
  std::vector<std::string> requirements;  // "rocm-sdk-core==7.10.0", …
  std::string family;                     // of the libraries; "" where device code comes in wheels of its own
};
// Which wheels of the fetcher's index make one ROCm of one version. Throws Error that says what the index lacks.
RocmWheels choose_rocm_wheels(const RocmWanted& wanted, fetch::Fetcher& index);

// A ROCm that can be compiled with, made of the environment's wheels: what `rocm-sdk path --root` would name, in a
// folder of the store. The environment is not touched.
std::filesystem::path make_rocm(const Environment& environment, store::Store& store);

}  // namespace wheelsmith::env
