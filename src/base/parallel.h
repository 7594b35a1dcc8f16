#pragma once

#include <cstddef>
#include <functional>

namespace wheelsmith {

// The number of threads worth starting: the cores that this process may use.
unsigned usable_threads();

// Calls task(0) … task(count - 1), each once, on up to `threads` threads, in that order of starting. Returns when all
// have ended; the first exception (by index, so that every run reports the same one) is thrown again then.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task);

}  // namespace wheelsmith
