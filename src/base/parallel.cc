#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace wheelsmith {

unsigned usable_threads() {
  // Cached: each call opens a file in /sys.
  static const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  return threads;
}

void parallel_for(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed_at = count;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (i < failed_at) {
          failed_at = i;
          failure = std::current_exception();
        }
      }
    }
  };
  {
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min<std::size_t>(std::max(1U, threads), count);
    try {
      for (std::size_t i = 1; i < wanted; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {  // a process or memory limit: the existing threads do the work
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace wheelsmith
