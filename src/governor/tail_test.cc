#include "governor/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace wheelsmith::governor {
namespace {

constexpr std::uint64_t k_MB = 1'000'000;

// MB at each second.
using Looks = std::vector<std::uint64_t>;

Tails tails_of(const Looks& looks, double step = 1) {
  MemoryCurve curve;
  for (std::size_t i = 0; i < looks.size(); ++i) curve.add(static_cast<double>(i) * step, looks[i] * k_MB);
  return curve.tails();
}
Tail tail(unsigned falls, std::uint64_t megabytes) { return {falls, megabytes * k_MB}; }

// "SECOND:MB" of each tail that is seen.
std::string seen(TailWatch watch, const Looks& looks) {
  std::string text;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const std::uint64_t rest = watch.look(static_cast<double>(i), looks[i] * k_MB);
    if (rest != 0) text += (text.empty() ? "" : " ") + std::to_string(i) + ":" + std::to_string(rest / k_MB);
  }
  return text;
}

// As cicc, ptxas and g++ go.
const Looks k_kernel{880, 30, 1500, 4000, 6100, 6400, 5000, 1500, 800, 2400, 2300, 2300, 150, 500, 500};

TEST(TailTest, IsWhatComesAfterTheLastFall) {
  EXPECT_EQ(tails_of({}), Tails());
  EXPECT_EQ(tails_of({10, 1000, 6000, 6400}), Tails()) << "it ends at its peak";
  EXPECT_EQ(tails_of({10, 1000, 6000, 6400, 0, 0}), Tails()) << "it is over";
  EXPECT_EQ(tails_of({6400, 6400, 3500, 6000, 1500}), Tails({tail(1, 1500)})) << "3500 is not far enough down";
  EXPECT_EQ(tails_of(k_kernel), Tails({tail(1, 2400), tail(1, 500)}));
  EXPECT_EQ(tails_of({3000, 3000, 500, 2900, 2900, 700, 1000, 1700, 1600}), Tails({tail(2, 1700)})) << "two of them";
  EXPECT_EQ(tails_of({60, 60, 2, 50, 50, 1}), Tails()) << "small";
}

TEST(TailTest, TheWayDownIsNoPeak) {
  // Ten looks a second: 2400 on the way down is as high as what comes later, and not for long.
  Looks looks(20, 6400);
  for (const std::uint64_t down : {5000, 2400, 2300, 900, 500}) looks.push_back(down);
  looks.insert(looks.end(), 20, 2400);
  looks.insert(looks.end(), 20, 100);
  EXPECT_EQ(tails_of(looks, 0.1), Tails({tail(1, 2400), tail(1, 100)}));
}

TEST(TailTest, IsSeenWhileACompileRuns) {
  const Tails tails{tail(1, 2400), tail(1, 500)};
  EXPECT_EQ(seen({6400 * k_MB, tails, false}, k_kernel), "7:2400 12:500");
  EXPECT_EQ(seen({3000 * k_MB, {tail(2, 1700)}, false}, {3000, 3000, 500, 2900, 2900, 700, 1700}), "5:1700");
  EXPECT_EQ(seen({}, k_kernel), "") << "nothing is known";
  EXPECT_EQ(seen({12000 * k_MB, tails, false}, k_kernel), "") << "it should have grown further";
}

TEST(TailTest, RelativesAreLikeEachOther) {
  const Tails tails{tail(1, 4000), tail(1, 800)};
  EXPECT_EQ(seen({10000 * k_MB, tails, true}, k_kernel), "7:4000 12:800") << "its own peak counts";
  EXPECT_EQ(seen({20000 * k_MB, tails, true}, k_kernel), "") << "too small to be sure";
}

TEST(TailTest, LongCompilesTakeLittleRoomAndLoseNoPeak) {
  Looks looks(100'000, 100);
  for (std::size_t i = 30'000; i < 50'000; ++i) looks[i] = 5000;
  looks[80'001] = 2000;
  EXPECT_EQ(tails_of(looks), Tails({tail(1, 2000)}));
}

// What a compile taught is what is seen when it runs again, whatever it does.
TEST(TailTest, TheSameAgainIsSeenAndNeverOutgrown) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    Looks looks;
    while (looks.size() < 200) {
      const auto level = static_cast<std::uint64_t>(std::exp(std::uniform_real_distribution<>(3, 9)(random)));
      looks.insert(looks.end(), std::uniform_int_distribution<std::size_t>(1, 20)(random), level);
    }
    MemoryCurve curve;
    for (std::size_t i = 0; i < looks.size(); ++i) curve.add(static_cast<double>(i), looks[i] * k_MB);
    const Tails tails = curve.tails();
    TailWatch watch(*std::max_element(looks.begin(), looks.end()) * k_MB, tails, false);
    std::uint64_t allowed = UINT64_MAX;
    std::size_t met = 0;
    for (std::size_t i = 0; i < looks.size(); ++i) {
      if (const std::uint64_t rest = watch.look(static_cast<double>(i), looks[i] * k_MB); rest != 0) {
        allowed = rest;
        ++met;
      }
      ASSERT_LE(looks[i] * k_MB, allowed) << "round " << round << ", look " << i;
    }
    ASSERT_EQ(met, tails.size()) << "round " << round;
  }
}

}  // namespace
}  // namespace wheelsmith::governor
