#include "governor/model/tail.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "governor/model/units.h"

namespace wheelsmith::governor {
namespace {

// MB at each second.
using Looks = std::vector<std::uint64_t>;

Tails tails_of(const Looks& looks, double step = 1) {
  MemoryCurve curve;
  for (std::size_t i = 0; i < looks.size(); ++i) curve.add(static_cast<double>(i) * step, looks[i] * k_MB);
  return curve.tails();
}
Tail tail(unsigned falls, std::uint64_t megabytes) { return {falls, megabytes * k_MB}; }

// "SECOND:MB" of each detected tail.
std::string seen_tails(TailWatch watch, const Looks& looks) {
  std::string text;
  for (std::size_t i = 0; i < looks.size(); ++i) {
    const std::uint64_t rest = watch.look(static_cast<double>(i), looks[i] * k_MB);
    if (rest != 0) text += (text.empty() ? "" : " ") + std::to_string(i) + ":" + std::to_string(rest / k_MB);
  }
  return text;
}

// Like cicc, ptxas and g++.
const Looks k_kernel{880, 30, 1500, 4000, 6100, 6400, 5000, 1500, 800, 2400, 2300, 2300, 150, 500, 500};

TEST(TailTest, StartsAfterTheLastFall) {
  EXPECT_EQ(tails_of({}), Tails());
  EXPECT_EQ(tails_of({10, 1000, 6000, 6400}), Tails()) << "it ends at its peak";
  EXPECT_EQ(tails_of({10, 1000, 6000, 6400, 0, 0}), Tails()) << "it is over";
  EXPECT_EQ(tails_of({6400, 6400, 3500, 6000, 1500, 1500}), Tails({tail(1, 1500)})) << "3500 is not far enough down";
  EXPECT_EQ(tails_of(k_kernel), Tails({tail(1, 2400), tail(1, 500)}));
  EXPECT_EQ(tails_of({3000, 3000, 500, 500, 2900, 2900, 700, 1000, 1700, 1600}), Tails({tail(2, 1700)}))
      << "two of them";
  EXPECT_EQ(tails_of({60, 60, 2, 2, 50, 50, 1, 1}), Tails()) << "small";
}

TEST(TailTest, IgnoresTheWayDown) {
  // Ten samples a second: 2400 on the way down is as high as a later level, but not for long.
  Looks looks(20, 6400);
  for (const std::uint64_t down : {5000, 3100, 2400, 900, 500, 500}) looks.push_back(down);
  looks.insert(looks.end(), 20, 2400);
  looks.insert(looks.end(), 20, 100);
  EXPECT_EQ(tails_of(looks, 0.1), Tails({tail(1, 2400), tail(1, 100)}));
}

TEST(TailTest, IsDetectedDuringACompile) {
  const Tails tails{tail(1, 2400), tail(1, 500)};
  EXPECT_EQ(seen_tails({6400 * k_MB, tails, false}, k_kernel), "8:2400 13:500");
  EXPECT_EQ(seen_tails({3000 * k_MB, {tail(2, 1700)}, false}, {3000, 3000, 500, 500, 2900, 2900, 700, 700, 1700}),
            "7:1700");
  EXPECT_EQ(seen_tails({}, k_kernel), "") << "nothing is known";
  EXPECT_EQ(seen_tails({12000 * k_MB, tails, false}, k_kernel), "") << "it should have grown further";
}

TEST(TailTest, AppliesToSimilarUnits) {
  const Tails tails{tail(1, 3000), tail(1, 600)};
  EXPECT_EQ(seen_tails({8000 * k_MB, tails, true}, k_kernel), "8:3000 13:600") << "its own peak counts";
  EXPECT_EQ(seen_tails({12000 * k_MB, tails, true}, k_kernel), "") << "too small to be sure";
  EXPECT_EQ(seen_tails({1600 * k_MB, {tail(1, 300)}, true}, {880, 880, 30, 30, 1600, 1600}), "")
      << "a host pass comes first";
}

TEST(TailTest, CompressesLongCompilesWithoutLoss) {
  Looks looks(400'000, 100);
  for (std::size_t i = 30'000; i < 150'000; ++i) looks[i] = 5000;
  for (std::size_t i = 320'000; i < 320'100; ++i) looks[i] = 2000;
  EXPECT_EQ(tails_of(looks, 0.1), Tails({tail(1, 2000), tail(1, 100)}));
}

// What was learned from one set of samples holds for others: no reservation is lowered too early, whatever the compile
// does.
TEST(TailTest, OtherSamplesNeverExceedTheLearnedTails) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int lowered = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::pair<double, std::uint64_t>> levels;  // from when on
    double end = 0;
    while (levels.size() < 30) {
      levels.emplace_back(end, static_cast<std::uint64_t>(std::exp(std::uniform_real_distribution<>(4, 9)(random))));
      end += std::uniform_real_distribution<>(0.3, 3)(random);
    }
    const auto each_look = [&](const auto& take) {
      for (double at = 0; at < end; at += std::uniform_real_distribution<>(0.04, 0.12)(random)) {
        auto level = levels.begin();
        while (level + 1 != levels.end() && (level + 1)->first <= at) ++level;
        take(at, level->second * k_MB);
      }
    };
    MemoryCurve curve;
    std::uint64_t peak = 0;
    each_look([&](double at, std::uint64_t bytes) {
      curve.add(at, bytes);
      peak = std::max(peak, bytes);
    });
    TailWatch watch(peak, curve.tails(), false);
    std::uint64_t allowed = peak;
    each_look([&](double at, std::uint64_t bytes) {
      if (const std::uint64_t rest = watch.look(at, bytes); rest != 0) {
        allowed = rest;
        ++lowered;
      }
      ASSERT_LE(bytes, allowed) << "round " << round << ", at " << at;
    });
  }
  EXPECT_GE(lowered, 100) << "it shows nothing when nothing comes down";
}

}  // namespace
}  // namespace wheelsmith::governor
