#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "governor/model/admission.h"
#include "governor/model/units.h"

namespace wheelsmith::governor {
namespace {

struct SimulatedUnit {
  double seconds = 1;
  std::uint64_t memory = 100 * k_MB;
};

// A build requests at most `offered` units at a time, in this order, and the next one when one has ended.
struct SimulatedBuild {
  std::string name;
  double arrives = 0;
  std::size_t offered = 16;
  std::vector<SimulatedUnit> units;
  std::size_t asked = 0, open = 0;
  double starves_since = -1, longest_starvation = 0;
};

// A simulated machine: compiles take the predicted time and, growing linearly, nine tenths of the memory (predictions
// have slack).
class Simulation {
 public:
  Simulation(unsigned cores, std::uint64_t limit) : m_cores(cores), m_limit(limit), m_admission(cores) {}

  void add(SimulatedBuild build) { m_builds.push_back(std::move(build)); }
  void run() {
    while (m_more && !::testing::Test::HasFatalFailure()) step();
  }
  [[nodiscard]] const SimulatedBuild& build(std::size_t i) const { return m_builds[i]; }
  [[nodiscard]] double longest_unit() const {
    double longest = 0;
    for (const SimulatedBuild& build : m_builds) {
      for (const SimulatedUnit& unit : build.units) longest = std::max(longest, unit.seconds);
    }
    return longest;
  }
  [[nodiscard]] std::size_t builds() const { return m_builds.size(); }
  [[nodiscard]] double waited(std::size_t build, std::size_t unit) const { return m_waited.at({build, unit}); }
  [[nodiscard]] double end() const { return m_now; }

 private:
  struct Known {
    std::size_t build = 0, unit = 0;
    bool started = false, paused = false;
    double done = 0;  // seconds of its compile
  };

  [[nodiscard]] const SimulatedUnit& unit_of(const Known& known) const {
    return m_builds[known.build].units[known.unit];
  }

  void ask_for_more() {
    for (std::size_t i = 0; i < m_builds.size(); ++i) {
      SimulatedBuild& build = m_builds[i];
      for (; build.arrives <= m_now && build.open < build.offered && build.asked < build.units.size(); ++build.asked) {
        Ask ask;
        ask.id = ++m_last_id;
        ask.build = build.name;
        ask.pools = {"m"};
        ask.memory = build.units[build.asked].memory;
        ask.seconds = build.units[build.asked].seconds;
        m_admission.ask(ask, m_now);
        m_known[ask.id] = {i, build.asked};
        ++build.open;
      }
    }
  }

  void look_at_memory() {
    std::uint64_t sum = 0;
    for (const auto& [id, running] : m_admission.running()) {
      const Known& known = m_known.at(id);
      const double grown = 0.9 * std::min(1.0, known.done / unit_of(known).seconds * 2);
      const auto used = static_cast<std::uint64_t>(grown * static_cast<double>(unit_of(known).memory));
      m_admission.set_used(id, used);
      sum += used;
    }
    ASSERT_LE(sum, m_limit) << "out of memory at " << m_now;
    m_available = m_limit - sum;
    m_admission.set_pool("m", {m_limit, m_available, false});
  }

  // After a decision with a free core, no startable unit waits, unless all others wait for one that has waited too
  // long.
  void check_conserving() {
    std::uint64_t growth = 0;
    ASSERT_LE(m_admission.running().size(), m_cores);
    for (const auto& [id, running] : m_admission.running()) {
      growth += running.reserved - std::min(running.reserved, running.used);
      if (running.paused) return;  // memory is short
    }
    if (m_admission.running().size() == m_cores) return;
    for (const auto& [id, waiting] : m_admission.waiting()) {
      if (m_now - waiting.since > patience(waiting.ask)) return;
    }
    for (const auto& [id, waiting] : m_admission.waiting()) {
      ASSERT_FALSE(m_admission.running().empty()) << "all are idle at " << m_now;
      ASSERT_GT(waiting.ask.memory + growth + margin({m_limit, m_available, false}), m_available)
          << "a core is idle at " << m_now << " although " << waiting.ask.build << " could use it";
    }
  }

  void note_starvation() {
    for (SimulatedBuild& build : m_builds) {
      const auto is_of = [&build](const auto& entry) { return entry.second.ask.build == build.name; };
      const auto& running = m_admission.running();
      const auto& waiting = m_admission.waiting();
      const bool starves =
          std::none_of(running.begin(), running.end(), is_of) && std::any_of(waiting.begin(), waiting.end(), is_of);
      if (starves && build.starves_since < 0) build.starves_since = m_now;
      if (!starves && build.starves_since >= 0) {
        build.longest_starvation = std::max(build.longest_starvation, m_now - build.starves_since);
        build.starves_since = -1;
      }
    }
  }

  void step() {
    ask_for_more();
    look_at_memory();
    for (const Action& action : m_admission.decide(m_now)) {
      ASSERT_NE(action.kind, Action::Kind::set_back) << "at " << m_now;
      Known& known = m_known.at(action.id);
      known.paused = action.kind == Action::Kind::pause;
      if (action.kind != Action::Kind::start) continue;
      known.started = true;
      m_waited[{known.build, known.unit}] = m_admission.running().at(action.id).waited;
    }
    check_conserving();
    note_starvation();

    double next = m_now + 1;  // the governor samples periodically
    bool more = false;
    for (const SimulatedBuild& build : m_builds) {
      if (build.arrives > m_now) next = std::min(next, build.arrives);
      more = more || build.arrives > m_now;
    }
    for (const auto& [id, known] : m_known) {
      if (known.started && !known.paused) next = std::min(next, m_now + unit_of(known).seconds - known.done);
    }
    more = more || !m_known.empty();
    advance(next);
    m_more = more;
  }

  void advance(double to) {
    for (auto it = m_known.begin(); it != m_known.end();) {
      Known& known = it->second;
      if (known.started && !known.paused) known.done += to - m_now;
      if (!known.started || known.done < unit_of(known).seconds - 1e-9) {
        ++it;
        continue;
      }
      m_admission.finish(it->first);
      --m_builds[known.build].open;
      it = m_known.erase(it);
    }
    m_now = to;
  }

  unsigned m_cores;
  std::uint64_t m_limit, m_available = 0, m_last_id = 0;
  Admission m_admission;
  std::vector<SimulatedBuild> m_builds;
  std::map<std::uint64_t, Known> m_known;
  std::map<std::pair<std::size_t, std::size_t>, double> m_waited;
  double m_now = 0;
  bool m_more = true;
};

std::vector<SimulatedUnit> units(std::size_t count, double seconds, std::uint64_t megabytes) {
  return std::vector<SimulatedUnit>(count, {seconds, megabytes * k_MB});
}

TEST(FairShareTest, GivesTheNextFreeCoreToAnotherBuildsLink) {
  Simulation simulation(4, 64'000 * k_MB);
  simulation.add({"long", 0, 22, units(200, 60, 100)});
  simulation.add({"link", 10, 22, units(1, 0.14, 200)});
  simulation.run();
  EXPECT_LE(simulation.waited(1, 0), 50);
}

TEST(FairShareTest, DoesNotStarveALinkOfTheSameBuild) {
  Simulation simulation(4, 64'000 * k_MB);
  std::vector<SimulatedUnit> list = units(200, 60, 100);
  list[10].seconds = 0.2;
  simulation.add({"b", 0, 22, list});
  simulation.run();
  EXPECT_LE(simulation.waited(0, 10), 120);
}

TEST(FairShareTest, GivesSmallUnitsAsMuchTimeAsLongOnes) {
  Simulation simulation(1, 64'000 * k_MB);
  simulation.add({"long", 0, 16, units(20, 100, 100)});
  simulation.add({"small", 1, 16, units(200, 0.5, 100)});
  simulation.run();
  EXPECT_LE(simulation.waited(1, 199), 300) << "100 s of its own, and two long ones";
}

TEST(FairShareTest, CountsACompileThatFillsMemoryAsMany) {
  Admission admission(8);
  admission.set_pool("m", {10'000 * k_MB, 10'000 * k_MB, false});
  std::uint64_t id = 0;
  const auto ask = [&](const std::string& build, std::uint64_t memory, double seconds) {
    Ask wanted;
    wanted.id = ++id;
    wanted.build = build;
    wanted.pools = {"m"};
    wanted.memory = memory * k_MB;
    wanted.seconds = seconds;
    admission.ask(wanted, 0);
    return id;
  };
  ask("large", 5000, 100);
  for (int i = 0; i < 3; ++i) ask("small", 100, 1);
  EXPECT_EQ(admission.decide(0).size(), 4U);
  const std::uint64_t large = ask("large", 2000, 200);
  const std::uint64_t small = ask("small", 2000, 1);
  const std::vector<Action> actions = admission.decide(0);
  ASSERT_EQ(actions.size(), 2U);
  EXPECT_EQ(actions[0].id, small) << "three of eight cores are less than half of the memory";
  EXPECT_EQ(actions[1].id, large);
}

TEST(FairShareTest, LargeBuildWaitingForMemoryDoesNotBlockASmallOne) {
  // Its units wait for memory all the time, each beyond its patience.
  Simulation simulation(8, 10'000 * k_MB);
  simulation.add({"large", 0, 30, units(60, 60, 4500)});
  simulation.add({"small", 200, 30, units(50, 1, 300)});
  simulation.run();
  for (std::size_t i = 0; i < 50; ++i) EXPECT_LE(simulation.waited(1, i), 60 + 50) << i;
}

// A waiting build gets something started within a bounded time, whatever the others do.
TEST(FairShareTest, WaitsAreBoundedForRandomBuilds) {
  const char* given = std::getenv("SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device()();
  std::mt19937 random(seed);
  const auto number = [&random](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE("SEED=" + std::to_string(seed) + ", round " + std::to_string(round));
    const auto cores = static_cast<unsigned>(number(1, 13));
    const std::uint64_t limit = static_cast<std::uint64_t>(number(4'000, 64'000)) * k_MB;
    Simulation simulation(cores, limit);
    const auto count = static_cast<std::size_t>(number(2, 6));
    for (std::size_t i = 0; i < count; ++i) {
      SimulatedBuild build;
      build.name = "b" + std::to_string(i);
      build.arrives = i == 0 ? 0 : number(0, 300);
      build.offered = static_cast<std::size_t>(number(1, 2 * cores + 14));
      const double typical = std::exp(number(-1, 4));
      const double large = std::exp(number(-6, -0.7)) * static_cast<double>(limit);
      for (int unit = static_cast<int>(number(10, 150)); unit > 0; --unit) {
        const double memory = std::min(large * number(0.3, 1.5), 0.9 * static_cast<double>(limit));
        build.units.push_back({typical * std::exp(number(-2, 1)), static_cast<std::uint64_t>(memory)});
      }
      build.units.back().seconds = 0.1;
      simulation.add(build);
    }
    simulation.run();
    const double longest = simulation.longest_unit();
    const double bound = 30 + 2 * longest + static_cast<double>(count + 1) * longest;
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_LE(simulation.build(i).longest_starvation, bound) << "build " << i << ", longest unit " << longest;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace wheelsmith::governor
