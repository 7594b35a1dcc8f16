#include "governor/model/memory_model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "governor/model/unit_journal.h"
#include "governor/model/units.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::governor {
namespace {

UnitFacts cuda(const std::string& unit, const std::string& family = "cuda/1/x") {
  return {unit, family, Kind::cuda, 10'000, 1, 1};
}

Observation observed(const UnitFacts& facts, std::uint64_t peak, double seconds = 100, std::int64_t when = 1) {
  return {facts, peak * k_MB, seconds, when, {}};
}

TEST(MemoryModelTest, PredictsThePreviousPeak) {
  MemoryModel model;
  EXPECT_EQ(model.estimate(cuda("a")).from, Estimate::From::prior);
  model.learn(observed(cuda("a"), 4690, 124));
  const Estimate estimate = model.estimate(cuda("a"));
  EXPECT_EQ(estimate.from, Estimate::From::unit);
  EXPECT_GE(estimate.memory, 4690 * k_MB);
  EXPECT_LE(estimate.memory, 4900 * k_MB);
  EXPECT_EQ(estimate.seconds, 124);
}

TEST(MemoryModelTest, RisesAtOnceAndFallsSlowly) {
  MemoryModel model;
  model.learn(observed(cuda("a"), 1000));
  model.learn(observed(cuda("a"), 3000));
  EXPECT_GE(model.estimate(cuda("a")).memory, 3000 * k_MB);
  model.learn(observed(cuda("a"), 1000));
  EXPECT_GE(model.estimate(cuda("a")).memory, 2000 * k_MB);
  EXPECT_LE(model.estimate(cuda("a")).memory, 2200 * k_MB);
}

TEST(MemoryModelTest, IgnoresCompileCacheHits) {
  MemoryModel model;
  model.learn(observed(cuda("a"), 4000, 100));
  const std::uint64_t before = model.estimate(cuda("a")).memory;
  for (int i = 0; i < 5; ++i) model.learn(observed(cuda("a"), 20, 0.1));
  EXPECT_EQ(model.estimate(cuda("a")).memory, before);
  EXPECT_EQ(model.estimate(cuda("a")).seconds, 100);
}

TEST(MemoryModelTest, PredictsFromSimilarUnits) {
  MemoryModel model;
  model.learn(observed(cuda("hdim64"), 3000, 60));
  model.learn(observed(cuda("hdim256"), 6400, 140));
  const Estimate estimate = model.estimate(cuda("hdim128"));
  EXPECT_EQ(estimate.from, Estimate::From::family);
  EXPECT_GE(estimate.memory, 6400 * k_MB);
  EXPECT_EQ(estimate.seconds, 100);
  EXPECT_EQ(model.estimate(cuda("other", "cuda/1/other")).from, Estimate::From::prior);
}

TEST(MemoryModelTest, RisesAtOnceForSimilarUnitsButDoesNotFall) {
  MemoryModel more;
  more.learn(observed(cuda("a", "cuda/1/a"), 6400));
  EXPECT_GE(more.estimate(cuda("b", "cuda/1/b")).memory, 6000 * k_MB);
  MemoryModel less;
  less.learn(observed(cuda("a", "cuda/1/a"), 200));
  EXPECT_GE(less.estimate(cuda("b", "cuda/1/b")).memory, 2000 * k_MB);
}

TEST(MemoryModelTest, CorrectsPriorsDuringABuild) {
  MemoryModel model;
  const auto unit = [](int i) {
    return UnitFacts{"u" + std::to_string(i), "f" + std::to_string(i), Kind::cxx, 1000, 1, 1};
  };
  const std::uint64_t before = model.estimate(unit(9)).memory;
  for (int i = 0; i < 4; ++i) model.learn({unit(i), before * 3, 50, 1, {}});
  EXPECT_NEAR(static_cast<double>(model.estimate(unit(9)).memory), static_cast<double>(before) * 3, 1e6);
  EXPECT_NEAR(model.estimate(unit(9)).seconds, 50, 1);
  EXPECT_EQ(model.estimate(cuda("x")).memory, prior(cuda("x")).memory) << "each compiler for itself";
}

TEST(MemoryModelTest, PriorsGrowWithTheWork) {
  UnitFacts facts{"u", "f", Kind::c, 1000, 1, 1};
  const std::uint64_t small = prior(facts).memory;
  facts.size = 40'000'000;
  EXPECT_GT(prior(facts).memory, small + 500 * k_MB);
  UnitFacts gpu = cuda("u");
  const Estimate one = prior(gpu);
  gpu.archs = 3;
  EXPECT_GT(prior(gpu).seconds, one.seconds);
  EXPECT_EQ(prior(gpu).memory, one.memory) << "one after the other";
  gpu.threads = 3;
  EXPECT_GT(prior(gpu).memory, 2 * one.memory);
}

TEST(MemoryModelTest, RaisesTheEstimateAfterAKill) {
  MemoryModel model;
  model.learn(observed(cuda("a"), 300));
  model.needs_more_than(cuda("a"), 2500 * k_MB);
  EXPECT_EQ(model.estimate(cuda("a")).memory, 2500 * k_MB);
  EXPECT_GE(model.estimate(cuda("relative")).memory, 2500 * k_MB);
  model.learn(observed(cuda("a"), 2400));
  EXPECT_LT(model.estimate(cuda("a")).memory, 2500 * k_MB);
}

TEST(MemoryModelTest, KnowsTheNeedAfterThePeak) {
  MemoryModel model;
  EXPECT_TRUE(model.estimate(cuda("a")).tails.empty());
  Observation observation = observed(cuda("a"), 6000);
  observation.tails = {{1, 1500 * k_MB}, {1, 300 * k_MB}};
  model.learn(observation);
  const Tails known = model.estimate(cuda("a")).tails;
  EXPECT_EQ(known, observation.tails.value());
  EXPECT_EQ(model.estimate(cuda("a")).peak, 6000 * k_MB);

  observation = observed(cuda("relative"), 3000);
  observation.tails = {{1, 1500 * k_MB}, {2, 300 * k_MB}};
  model.learn(observation);
  const Tails relative = model.estimate(cuda("other")).tails;
  ASSERT_EQ(relative.size(), 1U) << "as far as they agree";
  EXPECT_GE(relative[0].memory, 3000 * k_MB) << "half of the largest, as the worst of them";
  EXPECT_LE(relative[0].memory, 3300 * k_MB);
  EXPECT_EQ(model.estimate(cuda("a")).tails, known);

  // Architectures compiled in parallel fall together, which says nothing about sequential ones. Neither does a compile
  // whose beginning was not observed.
  observation.facts.threads = 2;
  observation.tails = Tails();
  model.learn(observation);
  model.learn(observed(cuda("unseen"), 3000));
  EXPECT_EQ(model.estimate(cuda("other")).tails, relative);
  EXPECT_EQ(model.estimate(cuda("relative")).tails.size(), 2U);
  // The same unit fell differently.
  observation.facts.threads = 1;
  observation.tails = {{1, 1600 * k_MB}, {1, 300 * k_MB}};
  model.learn(observation);
  EXPECT_EQ(model.estimate(cuda("relative")).tails, Tails({{1, 1600 * k_MB}})) << "the larger, as far as they agree";
  // One that ends at its peak.
  observation = observed(cuda("level"), 3000);
  observation.tails = Tails();
  model.learn(observation);
  EXPECT_TRUE(model.estimate(cuda("other")).tails.empty());
}

TEST(UnitJournalTest, RoundTripsAndReadsOtherMachinesFiles) {
  const sys::TempDir folder;
  {
    UnitJournal journal(folder.path());
    journal.add(observed(cuda("a"), 1000));
    journal.add(observed(cuda("a"), 2000));
  }
  sys::write_file(folder.path() / "other-machine.tsv", to_line(observed(cuda("b"), 5000)) + "an invalid line\n\t\t\n");
  UnitJournal journal(folder.path());
  EXPECT_EQ(journal.model().size(), 2U);
  EXPECT_GE(journal.model().estimate(cuda("a")).memory, 2000 * k_MB);
  EXPECT_GE(journal.model().estimate(cuda("b")).memory, 5000 * k_MB);
}

TEST(UnitJournalTest, StaysSmall) {
  const sys::TempDir folder;
  std::string text;
  for (int i = 0; i < 3000; ++i) text += to_line(observed(cuda("a"), 1000, 1, i));
  sys::write_file(folder.path() / "journal.tsv", text);
  UnitJournal journal(folder.path());
  const std::string after = sys::read_file(folder.path() / "journal.tsv");
  EXPECT_EQ(std::count(after.begin(), after.end(), '\n'), 1);
  EXPECT_EQ(after, to_line(observed(cuda("a"), 1000, 1, 2999)));
}

TEST(UnitJournalTest, StoresTailsAndReadsOldLines) {
  Observation observation = observed(cuda("a"), 1000);
  observation.tails = {{2, 300 * k_MB}, {1, 90 * k_MB}};
  std::string line = to_line(observation);
  line.pop_back();
  EXPECT_EQ(parse_line(line).value().tails, observation.tails);
  const std::string old = "a\tb\tcuda\t1\t1\t1\t900\t1\t1";
  EXPECT_EQ(parse_line(old).value().tails, std::nullopt);
  EXPECT_EQ(parse_line(old + "\t1:900").value().tails, Tails({{1, 900}}));
  EXPECT_EQ(parse_line(old + "\t-").value().tails, Tails());
  for (const char* end : {"\t", "\t?", "\t1", "\t1:", "\t1:901", "\t-1:1", "\t0:1", "\t1001:1", "\t1:5,", "\t1:5,1:6"})
    EXPECT_EQ(parse_line(old + end).value().tails, std::nullopt) << end;
  EXPECT_EQ(parse_line(old + "\t" + std::string(1000, ',')).value().tails, std::nullopt);
}

TEST(UnitJournalTest, SkipsInvalidLines) {
  const std::string good = to_line(observed(cuda("a"), 1000));
  ASSERT_TRUE(parse_line(good.substr(0, good.size() - 1)));
  for (const char* line : {"", "a", "a\tb\tcuda\t1\t1\t1\t1\t1", "a\tb\tcobol\t1\t1\t1\t1\t1\t1",
                           "a\tb\tcuda\t-1\t1\t1\t1\t1\t1", "a\tb\tcuda\t1\t1\t1\t99999999999999999\t1\t1",
                           "a\tb\tcuda\t1\t1\t1\t1\tnan\t1", "a b\tb\tcuda\t1\t1\t1\t1\t1\t1"}) {
    EXPECT_FALSE(parse_line(line)) << line;
  }
}

}  // namespace
}  // namespace wheelsmith::governor
