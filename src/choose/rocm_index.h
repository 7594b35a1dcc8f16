#pragma once

#include <string>
#include <vector>

#include "env/rocm_wheels.h"

// Selects the package index of ROCm wheels and the wheels to install from it.

namespace wheelsmith::choose {

// The URL of the wheels of a channel or family: the index with {channel} and {family} replaced. Throws Error if a
// channel is requested but the index has no {channel}.
std::string rocm_index_url(const std::string& index, const std::string& channel, const std::string& family);

struct RocmIndexQuestion {
  std::string index_url{};              // --index-url
  std::string index{}, channel{};       // the settings
  std::vector<std::string> families{};  // --family
};
// Throws RequestError if no index is set, or if it needs a channel or exactly one family.
std::string choose_rocm_index(const RocmIndexQuestion& question);

// The wheels for --family (families in upper or lower case, or processors) and --extras. Throws RequestError that
// suggests the nearest name for an unknown one.
env::RocmWanted wanted_rocm(const std::vector<std::string>& families, const std::vector<std::string>& extras);

}  // namespace wheelsmith::choose
