// A cluster without processes, files or time: 1,000 nodes, 20,000 steps. The makespan is compared with its lower
// bounds: the longest chain of steps, and all work divided by all nodes.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>
#include <random>

#include "run/scheduler.h"

namespace wheelsmith::run {
namespace {

struct Simulated {
  std::vector<Scheduler::Node> nodes;
  std::vector<double> seconds;
};

// Steps as a release has them: some packages that many need, then a matrix of packages that need one to three of what
// was before. Times are spread like those of real packages: most take minutes, few half an hour.
Simulated make_release(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> spread(std::log(240.0), 1.2);
  Simulated result;
  result.nodes.resize(count);
  result.seconds.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    result.seconds[i] = std::clamp(spread(random), 5.0, 1800.0);
    if (i < count / 50) continue;
    const std::size_t needs = 1 + random() % 3;
    for (std::size_t n = 0; n < needs; ++n) {
      // Mostly a package that everything needs, sometimes one of those just before.
      const std::size_t need =
          random() % 10 != 0 ? random() % (count / 50) : i - 1 - random() % std::min<std::size_t>(i, 500);
      auto& list = result.nodes[i].needs;
      if (std::none_of(list.begin(), list.end(), [&](const auto& one) { return one.step == need; }))
        list.push_back({need});
    }
  }
  // As plan::critical_seconds() counts: a step and the longest chain behind it.
  std::vector<double> behind(count);
  for (std::size_t i = count; i-- > 0;) {
    result.nodes[i].urgency = result.seconds[i] + behind[i];
    for (const Scheduler::Need& need : result.nodes[i].needs)
      behind[need.step] = std::max(behind[need.step], result.nodes[i].urgency);
  }
  return result;
}

double run_on(const Simulated& release, std::size_t machines, std::mt19937_64* losses) {
  Scheduler scheduler(release.nodes, {.keep_going = true, .most_losses = 1000});
  using Ending = std::pair<double, std::size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> running;
  double now = 0;
  std::size_t made = 0;
  while (!scheduler.done()) {
    while (const auto decision = scheduler.next(machines - running.size()))
      running.emplace(now + release.seconds[decision->step], decision->step);
    if (running.empty()) break;
    now = running.top().first;
    const std::size_t step = running.top().second;
    running.pop();
    if (losses != nullptr && (*losses)() % 100 == 0) {
      scheduler.lost(step);
    } else {
      scheduler.succeeded(step);
      ++made;
    }
  }
  EXPECT_EQ(made, release.nodes.size());
  return now;
}

TEST(SchedulerSimulation, KeepsAThousandNodesBusy) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const Simulated release = make_release(20'000, seed);
    double work = 0, longest = 0;
    for (std::size_t i = 0; i < release.seconds.size(); ++i) {
      work += release.seconds[i];
      longest = std::max(longest, release.nodes[i].urgency);
    }
    const double ideal = std::max(longest, work / 1000);
    const auto began = std::chrono::steady_clock::now();
    const double taken = run_on(release, 1000, nullptr);
    const std::chrono::duration<double> own = std::chrono::steady_clock::now() - began;
    std::printf("seed %llu: %.0f s, ideal %.0f s: %.3f; %.3f s for the decisions\n",
                static_cast<unsigned long long>(seed), taken, ideal, taken / ideal, own.count());
    EXPECT_LE(taken, 1.1 * ideal) << "seed " << seed;
    EXPECT_GE(taken, ideal * 0.999) << "seed " << seed;
  }
}

TEST(SchedulerSimulation, LosesNothingWhenNodesDie) {
  const Simulated release = make_release(5'000, 7);
  std::mt19937_64 losses(7);
  run_on(release, 100, &losses);
}

}  // namespace
}  // namespace wheelsmith::run
