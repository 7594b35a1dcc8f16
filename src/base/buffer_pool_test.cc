#include "base/buffer_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "base/parallel.h"

namespace wheelsmith {
namespace {

TEST(BufferPool, LendsTheSameMemoryAgain) {
  BufferPool pool(1'000'000);
  const std::uint8_t* first = pool.take(1000).get();
  EXPECT_EQ(pool.take(900).get(), first);
  const auto held = pool.take(1000);
  EXPECT_NE(pool.take(1000).get(), held.get());
}

TEST(BufferPool, LendsNoMoreThanItsBudgetButNeverStarves) {
  BufferPool pool(100'000'000);
  std::atomic<std::int64_t> held{0};
  std::atomic<std::int64_t> most{0};
  parallel_for(200, 8, [&](std::size_t i) {
    const std::int64_t size = i % 50 == 0 ? 500'000'000 : 40'000'000;  // the large ones must run alone
    const auto memory = pool.take(static_cast<std::uint64_t>(size));
    const std::int64_t now = held += size;
    if (size == 500'000'000) {
      EXPECT_EQ(now, size);
    }
    std::memset(memory.get(), 1, 100);
    std::int64_t seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {}
    held -= size;
  });
  EXPECT_EQ(most, 500'000'000);
}

}  // namespace
}  // namespace wheelsmith
