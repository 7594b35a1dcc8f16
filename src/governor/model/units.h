#pragma once

#include <cstdint>

namespace wheelsmith::governor {

inline constexpr std::uint64_t k_MB = 1'000'000;

}  // namespace wheelsmith::governor
