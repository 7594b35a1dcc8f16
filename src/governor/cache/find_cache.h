#pragma once

#include <cstdint>
#include <string>

#include "governor/cache/cache.h"
#include "store/store.h"

namespace wheelsmith::governor {

// The compile cache as the user sets it up.
struct CacheSettings {
  std::string folder;  // "": in the store
  std::uint64_t size = 0;
  std::string compression, remote;
};

// With the ccache of this machine; its program is empty where there is none. Throws RequestError for a setting that
// ccache could not use.
CacheOptions find_cache(const CacheSettings& settings, const store::Store& store);

}  // namespace wheelsmith::governor
