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

}  // namespace
}  // namespace wheelsmith
