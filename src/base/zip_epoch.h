#pragma once

#include <cstdint>

namespace wheelsmith {

// 1980-01-01T00:00:00Z in seconds since 1970, the earliest time a ZIP member can have. Wheels and builds use it if
// SOURCE_DATE_EPOCH is not set.
inline constexpr std::int64_t k_zip_epoch = 315'532'800;

}  // namespace wheelsmith
