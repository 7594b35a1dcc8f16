#pragma once

#include <cstddef>
#include <functional>

namespace wheelsmith {

// The number of threads worth starting: the cores that this process may use.
unsigned usable_threads();

// Calls task(0) … task(count - 1), each once, on up to `threads` threads, started in that order. Returns when all have
// ended, then rethrows the first exception by index, so that every run reports the same one.
void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task);

}  // namespace wheelsmith
