#pragma once

#include <cstdint>
#include <span>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

struct Waiting {
  const Fd* fd = nullptr;  // null or closed: never ready
  bool ready = false;      // readable, or at its end
};

enum class Waited : std::uint8_t { ready, timeout, interrupted };

// Waits until one of them is ready, the time has passed (negative: no limit) or a signal arrives.
Waited wait_readable(std::span<Waiting> handles, int milliseconds);

}  // namespace wheelsmith::sys
