#include "run/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

namespace wheelsmith::run {

namespace {

using Node = Scheduler::Node;
using Kind = Scheduler::Decision::Kind;
using Cause = Scheduler::Cause;

Node needing(std::vector<Scheduler::Need> needs, double urgency = 0) {
  Node node;
  node.needs = std::move(needs);
  node.urgency = urgency;
  return node;
}

// An executor with a fixed number of slots; the test decides how each step ends.
class Bench {
 public:
  Bench(std::vector<Node> nodes, Scheduler::Options options, std::size_t places)
      : m_scheduler(std::move(nodes), options), m_places(places) {}

  // Takes every available decision and describes them: "start 1", "cached 0", "skip 2 need 1".
  std::string turn() {
    std::string text;
    while (const auto decision = m_scheduler.next(m_places - m_running.size())) {
      if (!text.empty()) text += ", ";
      text += word(*decision);
      if (decision->kind == Kind::start) m_running.insert(decision->step);
      if (decision->kind == Kind::take_cached) m_scheduler.succeeded(decision->step);
    }
    return text;
  }
  std::string succeed(std::size_t step) {
    m_running.erase(step);
    m_scheduler.succeeded(step);
    return turn();
  }
  std::string fail(std::size_t step) {
    m_running.erase(step);
    m_scheduler.failed(step);
    return turn();
  }
  std::string lose(std::size_t step) {
    m_running.erase(step);
    const bool again = m_scheduler.lost(step);
    return std::string(again ? "again" : "failed") + ": " + turn();
  }
  Scheduler& scheduler() { return m_scheduler; }
  [[nodiscard]] const std::set<std::size_t>& running() const { return m_running; }

 private:
  static std::string word(const Scheduler::Decision& decision) {
    const std::string step = std::to_string(decision.step);
    if (decision.kind == Kind::start) return "start " + step;
    if (decision.kind == Kind::take_cached) return "cached " + step;
    switch (decision.cause) {
      case Cause::planned: return "skip " + step + " planned";
      case Cause::need_failed: return "skip " + step + " needs " + std::to_string(decision.culprit);
      case Cause::another_failed: return "skip " + step + " stopped";
      case Cause::cancelled: break;
    }
    return "skip " + step + " cancelled";
  }

  Scheduler m_scheduler;
  std::size_t m_places;
  std::set<std::size_t> m_running;
};

// 1 and 2 depend on 0; 3 depends on both.
std::vector<Node> diamond() { return {needing({}), needing({{0}}, 1), needing({{0}}, 2), needing({{1}, {2}})}; }

}  // namespace

TEST(Scheduler, BuildsTheUrgentSideOfADiamondFirst) {
  Bench bench(diamond(), {}, 1);
  EXPECT_EQ(bench.turn(), "start 0");
  EXPECT_EQ(bench.turn(), "");
  EXPECT_EQ(bench.succeed(0), "start 2");
  EXPECT_EQ(bench.succeed(2), "start 1");
  EXPECT_EQ(bench.succeed(1), "start 3");
  EXPECT_FALSE(bench.scheduler().done());
  EXPECT_EQ(bench.succeed(3), "");
  EXPECT_TRUE(bench.scheduler().done());
}

TEST(Scheduler, FillsAllSlots) {
  Bench bench(diamond(), {}, 8);
  EXPECT_EQ(bench.turn(), "start 0");
  EXPECT_EQ(bench.succeed(0), "start 2, start 1");
  EXPECT_EQ(bench.scheduler().running(), 2u);
  EXPECT_EQ(bench.scheduler().builds_left(), 3u);
}

TEST(Scheduler, BreaksTiesByPlanOrder) {
  Bench bench({needing({}, 5), needing({}, 5), needing({}, 7)}, {}, 3);
  EXPECT_EQ(bench.turn(), "start 2, start 0, start 1");
}

TEST(Scheduler, TakesStoredStepsBeforeBuilding) {
  std::vector<Node> nodes = diamond();
  nodes[0].cached = nodes[2].cached = true;
  Bench bench(std::move(nodes), {}, 1);
  EXPECT_EQ(bench.turn(), "cached 0, cached 2, start 1");
  EXPECT_EQ(bench.scheduler().builds_left(), 2u);
}

TEST(Scheduler, BuildsStepsMissingFromTheStore) {
  Node node;
  node.cached = true;
  Scheduler scheduler({node, needing({{0}})}, {});
  EXPECT_EQ(scheduler.next(1)->kind, Kind::take_cached);
  scheduler.not_cached(0);
  EXPECT_EQ(scheduler.builds_left(), 2u);
  EXPECT_EQ(scheduler.next(1)->kind, Kind::start);
  scheduler.succeeded(0);
  EXPECT_EQ(scheduler.next(1)->step, 1u);
}

TEST(Scheduler, StopsAtAFailure) {
  Bench bench({needing({}, 2), needing({}, 1), needing({{0}}), needing({})}, {}, 2);
  EXPECT_EQ(bench.turn(), "start 0, start 1");
  EXPECT_EQ(bench.fail(0), "skip 2 needs 0, skip 3 stopped");
  EXPECT_FALSE(bench.scheduler().done());  // 1 is still running
  EXPECT_EQ(bench.succeed(1), "");
  EXPECT_TRUE(bench.scheduler().done());
}

TEST(Scheduler, ContinuesAfterAFailureWithKeepGoing) {
  Bench bench({needing({}, 2), needing({{0}}), needing({{1}}), needing({})}, {.keep_going = true}, 1);
  EXPECT_EQ(bench.turn(), "start 0");
  EXPECT_EQ(bench.fail(0), "skip 1 needs 0, skip 2 needs 1, start 3");
  EXPECT_EQ(bench.succeed(3), "");
  EXPECT_TRUE(bench.scheduler().done());
}

TEST(Scheduler, BuildsWithoutAnOptionalDependency) {
  std::vector<Node> nodes = {needing({}, 1), needing({{0, true}})};
  nodes[0].optional = true;
  Bench bench(std::move(nodes), {}, 1);
  EXPECT_EQ(bench.turn(), "start 0");
  EXPECT_EQ(bench.fail(0), "start 1");  // neither skipped nor stopped
  EXPECT_EQ(bench.succeed(1), "");
}

TEST(Scheduler, SkipsPlannedSkipsAndTheirDependents) {
  std::vector<Node> nodes = {needing({}), needing({{0}}), needing({{0, true}})};
  nodes[0].skipped = nodes[0].optional = true;
  Bench bench(std::move(nodes), {}, 1);
  EXPECT_EQ(bench.turn(), "skip 0 planned, skip 1 needs 0, start 2");
}

TEST(Scheduler, StartsNothingAfterCancel) {
  Bench bench(diamond(), {.keep_going = true}, 1);
  EXPECT_EQ(bench.turn(), "start 0");
  bench.scheduler().cancel();
  EXPECT_EQ(bench.turn(), "skip 1 cancelled, skip 3 needs 1, skip 2 cancelled");
  EXPECT_EQ(bench.fail(0), "");
  EXPECT_TRUE(bench.scheduler().done());
}

TEST(Scheduler, RetriesALostStepAFewTimes) {
  Bench bench({needing({}), needing({{0}})}, {.most_losses = 2}, 1);
  EXPECT_EQ(bench.turn(), "start 0");
  EXPECT_EQ(bench.lose(0), "again: start 0");
  EXPECT_EQ(bench.lose(0), "again: start 0");
  EXPECT_EQ(bench.lose(0), "failed: skip 1 needs 0");
  EXPECT_TRUE(bench.scheduler().done());
}

TEST(Scheduler, DoesNotRetryALostStepAfterAFailure) {
  Bench bench({needing({}), needing({})}, {.most_losses = 9}, 2);
  EXPECT_EQ(bench.turn(), "start 0, start 1");
  EXPECT_EQ(bench.fail(0), "");
  EXPECT_EQ(bench.lose(1), "failed: ");
  EXPECT_TRUE(bench.scheduler().done());
}

TEST(Scheduler, SkipsAChainOfAHundredThousandSteps) {
  std::vector<Node> nodes(100'000);
  for (std::size_t i = 1; i < nodes.size(); ++i) nodes[i] = needing({{i - 1}});
  Scheduler scheduler(std::move(nodes), {.keep_going = true});
  EXPECT_EQ(scheduler.next(1)->step, 0u);
  scheduler.failed(0);
  std::size_t skipped = 0;
  while (const auto decision = scheduler.next(1)) skipped += decision->kind == Kind::skip ? 1 : 0;
  EXPECT_EQ(skipped, 99'999u);
  EXPECT_TRUE(scheduler.done());
}

// Random graphs with random results: every step ends exactly once, nothing starts before its dependencies, and the run
// terminates.
TEST(Scheduler, EndsEveryStepExactlyOnce) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
    std::vector<Node> nodes(random() % 40 + 1);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (chance(10)) nodes[i].needs.push_back({j, chance(30)});
      }
      nodes[i].urgency = static_cast<double>(random() % 10);
      nodes[i].cached = chance(20);
      nodes[i].skipped = chance(5);
      nodes[i].optional = chance(20);
    }
    const std::vector<Node> graph = nodes;
    Scheduler scheduler(std::move(nodes), {.keep_going = chance(50), .most_losses = 2});
    std::map<std::size_t, bool> ended;  // step -> success
    std::vector<std::size_t> running;
    const auto end = [&](std::size_t step, bool good) {
      EXPECT_TRUE(ended.emplace(step, good).second) << "seed " << seed << ": step " << step << " ended twice";
    };
    for (int rounds = 0; !scheduler.done(); ++rounds) {
      ASSERT_LT(rounds, 10'000) << "seed " << seed;
      while (const auto decision = scheduler.next(3 - running.size())) {
        if (decision->kind == Kind::skip) {
          end(decision->step, false);
          continue;
        }
        for (const Scheduler::Need& need : graph[decision->step].needs) {
          const auto before = ended.find(need.step);
          ASSERT_NE(before, ended.end()) << "seed " << seed << ": step " << decision->step << " is too early";
          EXPECT_TRUE(before->second || need.optional) << "seed " << seed;
        }
        if (decision->kind == Kind::start) {
          running.push_back(decision->step);
        } else if (chance(10)) {
          scheduler.not_cached(decision->step);
        } else {
          scheduler.succeeded(decision->step);
          end(decision->step, true);
        }
      }
      if (chance(2)) scheduler.cancel();
      if (running.empty()) continue;
      const std::size_t place = random() % running.size();
      const std::size_t step = running[place];
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(place));
      if (chance(15)) {
        if (!scheduler.lost(step)) end(step, false);
      } else if (chance(15)) {
        scheduler.failed(step);
        end(step, false);
      } else {
        scheduler.succeeded(step);
        end(step, true);
      }
    }
    EXPECT_EQ(ended.size(), graph.size()) << "seed " << seed;
  }
}

}  // namespace wheelsmith::run
