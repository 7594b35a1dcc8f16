#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "base/error.h"

namespace wheelsmith {
namespace {

TEST(ParallelFor, CallsEachOnce) {
  std::vector<std::atomic<int>> calls(1000);
  parallel_for(calls.size(), 8, [&](std::size_t i) { ++calls[i]; });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, ThrowsTheFirstErrorByIndexAfterAllHaveRun) {
  std::atomic<int> calls{0};
  try {
    parallel_for(100, 4, [&](std::size_t i) {
      ++calls;
      if (i % 10 == 3) throw Error("task " + std::to_string(i));
    });
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "task 3");
  }
  EXPECT_EQ(calls, 100);
}

TEST(Gate, HoldsNoMoreThanItsBudgetButNeverStarves) {
  Gate gate(100);
  std::atomic<std::int64_t> held{0};
  std::atomic<std::int64_t> most{0};
  parallel_for(200, 8, [&](std::size_t i) {
    const std::int64_t bytes = i % 50 == 0 ? 500 : 40;  // the large ones exceed the budget and must run alone
    const auto hold = gate.pass(static_cast<std::uint64_t>(bytes));
    const std::int64_t now = held += bytes;
    if (bytes == 500) {
      EXPECT_EQ(now, 500);
    }
    std::int64_t seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {}
    held -= bytes;
  });
  EXPECT_EQ(most, 500);
}

}  // namespace
}  // namespace wheelsmith
