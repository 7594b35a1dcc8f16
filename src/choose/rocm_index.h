#pragma once

#include <string>
#include <vector>

#include "env/rocm_wheels.h"

// Which of an index's ROCm wheels the user means, and which index.

namespace wheelsmith::choose {

// Where a channel's or a family's wheels are: the index with {channel} and {family} filled in. Throws Error where a
// channel is asked for and the index does not know the word.
std::string rocm_index_url(const std::string& index, const std::string& channel, const std::string& family);

struct RocmIndexQuestion {
  std::string index_url{};              // --index-url
  std::string index{}, channel{};       // the settings
  std::vector<std::string> families{};  // --family
};
// Throws RequestError where no index is set, and where it needs a channel or one family.
std::string choose_rocm_index(const RocmIndexQuestion& question);

// The wheels for --family (families in any case, or processors) and --extras. Throws RequestError with the nearest name
// for one that is not known.
env::RocmWanted wanted_rocm(const std::vector<std::string>& families, const std::vector<std::string>& extras);

}  // namespace wheelsmith::choose
