#pragma once

#include <cstdint>
#include <span>

#include "sys/io/fd.h"

namespace wheelsmith::sys {

struct Waiting {
  const Fd* fd = nullptr;  // null or closed: never ready
  bool ready = false;      // there is something to read, or its end
};

enum class Waited : std::uint8_t { ready, timeout, interrupted };

// Until one of them is ready, the time is over (negative: without end) or a signal came.
Waited wait_readable(std::span<Waiting> handles, int milliseconds);

}  // namespace wheelsmith::sys
