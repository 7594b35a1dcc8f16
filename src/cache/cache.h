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
  std::string scope{};             // the part of it for one package: no other finds its entries
  std::uint64_t size = 0;          // bytes for all; 0: no limit
  std::string compression = "1";   // a level, or "off"
  std::string remote{};            // storage that several machines share; may hold a password
};

// Throw Error for a value that cannot be used.
void check_remote(std::string_view url);
void check_compression(std::string_view text);

}  // namespace wheelsmith::cache
