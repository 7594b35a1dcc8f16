#pragma once

#include <chrono>
#include <cstdint>

// Unix time. For durations use std::chrono::steady_clock: this clock may be set.

namespace wheelsmith::sys {

inline std::int64_t unix_nanoseconds() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace wheelsmith::sys
