#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

// The compile cache: what was compiled before is not compiled again. docs/cache.md describes it for users, broker.cc
// explains how its parts work together.

namespace wheelsmith::cache {

struct CacheOptions {
  bool enabled = false;
  std::filesystem::path folder{};  // of all packages' entries
  std::string scope{};             // the subfolder for one package: others cannot find its entries
  std::uint64_t size = 0;          // limit for all entries in bytes; 0: no limit
  std::string compression = "1";   // a level, or "off"
  std::string remote{};            // storage that several machines share; may contain a password
};

// Throw Error for an invalid value.
void check_remote(std::string_view url);
void check_compression(std::string_view text);

}  // namespace wheelsmith::cache
