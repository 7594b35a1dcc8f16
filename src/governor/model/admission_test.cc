#include "governor/model/admission.h"

#include <gtest/gtest.h>

#include "governor/model/units.h"

namespace wheelsmith::governor {
namespace {

using Do = Action::Kind;

// A machine with `cores` and one pool. Sizes are in MB.
struct Site {
  explicit Site(unsigned cores, std::uint64_t limit) : admission(cores) { free(limit, limit); }

  void free(std::uint64_t limit, std::uint64_t available, bool pressed = false) {
    admission.set_pool("m", {limit * k_MB, available * k_MB, pressed});
  }
  void ask(std::uint64_t id, std::uint64_t memory, double seconds = 1, const std::string& build = "b") {
    Ask wanted;
    wanted.id = id;
    wanted.build = build;
    wanted.pools = {"m"};
    wanted.memory = memory * k_MB;
    wanted.seconds = seconds;
    wanted.sure = sure;
    admission.ask(wanted, now);
  }
  void ask_alone(std::uint64_t id, std::uint64_t memory) {
    Ask wanted;
    wanted.id = id;
    wanted.pools = {"m"};
    wanted.memory = memory * k_MB;
    wanted.alone = true;
    admission.ask(wanted, now);
  }
  void use(std::uint64_t id, std::uint64_t memory) { admission.set_used(id, memory * k_MB); }
  // "start 1, pause 2".
  std::string decide() {
    std::string text;
    for (const Action& action : admission.decide(now)) {
      if (!text.empty()) text += ", ";
      text += action.kind == Do::start    ? "start "
              : action.kind == Do::pause  ? "pause "
              : action.kind == Do::resume ? "resume "
                                          : "preempt ";
      text += std::to_string(action.id);
    }
    return text;
  }
  Why why(std::uint64_t id) { return admission.waiting().at(id).why; }

  Admission admission;
  double now = 0;
  bool sure = false;
};

TEST(AdmissionTest, NeverRunsMoreCompilesThanCores) {
  Site site(2, 100'000);
  for (std::uint64_t id = 1; id <= 4; ++id) site.ask(id, 10);
  EXPECT_EQ(site.decide(), "start 1, start 2");
  EXPECT_EQ(site.why(3), Why::cores);
  site.admission.finish(1);
  EXPECT_EQ(site.decide(), "start 3");
  EXPECT_EQ(site.decide(), "");
}

TEST(AdmissionTest, StartsLongCompilesFirst) {
  Site site(2, 100'000);
  site.ask(1, 10, 5);
  site.ask(2, 10, 90);
  site.ask(3, 10, 30);
  EXPECT_EQ(site.decide(), "start 2, start 3");
}

TEST(AdmissionTest, CountsReservationsBeforeMemoryIsUsed) {
  Site site(8, 3000);
  for (std::uint64_t id = 1; id <= 8; ++id) site.ask(id, 1000);
  EXPECT_EQ(site.decide(), "start 1, start 2");
  EXPECT_EQ(site.why(3), Why::memory);
  // Half of it is in use now: no more is free for others than before.
  site.use(1, 500);
  site.use(2, 500);
  site.free(3000, 2000);
  EXPECT_EQ(site.decide(), "");
  site.admission.finish(1);
  site.free(3000, 2500);
  EXPECT_EQ(site.decide(), "start 3");
}

TEST(AdmissionTest, LetsSmallCompilesPassLargeOnes) {
  Site site(8, 3000);
  site.ask(1, 2000, 60);
  EXPECT_EQ(site.decide(), "start 1");
  site.ask(2, 2000, 50);
  site.ask(3, 200, 1);
  EXPECT_EQ(site.decide(), "start 3");
  // But not forever.
  site.now = 200;
  site.admission.finish(3);
  site.decide();
  site.ask(4, 200, 1);
  EXPECT_EQ(site.decide(), "");
  site.admission.finish(1);
  EXPECT_EQ(site.decide(), "start 2, start 4");
}

TEST(AdmissionTest, AlwaysStartsOneWhenNothingRuns) {
  Site site(8, 1000);
  site.free(1000, 10, true);
  site.ask(1, 5000);
  site.ask(2, 5000);
  EXPECT_EQ(site.decide(), "start 1");
  EXPECT_EQ(site.decide(), "");
}

TEST(AdmissionTest, CountsOtherProcesses) {
  Site site(8, 8000);
  site.free(8000, 1500);
  site.ask(1, 1000);
  site.ask(2, 1000);
  EXPECT_EQ(site.decide(), "start 1");
  site.free(8000, 8000, true);
  EXPECT_EQ(site.decide(), "");
  EXPECT_EQ(site.why(2), Why::pressure);
  site.free(8000, 8000);
  EXPECT_EQ(site.decide(), "start 2");
}

TEST(AdmissionTest, LimitsJobsPerBuild) {
  Site site(4, 100'000);
  site.admission.set_jobs("slow", 1);
  site.ask(1, 10, 9, "slow");
  site.ask(2, 10, 8, "slow");
  site.ask(3, 10, 7, "fast");
  EXPECT_EQ(site.decide(), "start 1, start 3");
  EXPECT_EQ(site.why(2), Why::jobs);
}

TEST(AdmissionTest, StartsLessWhenACompileOutgrowsItsReservation) {
  Site site(8, 3000);
  site.ask(1, 300);
  EXPECT_EQ(site.decide(), "start 1");
  site.use(1, 2000);
  site.free(3000, 1000);
  site.ask(2, 450);
  EXPECT_EQ(site.decide(), "") << "it will go on growing";
  EXPECT_EQ(site.admission.running().at(1).reserved, 2500 * k_MB);
}

TEST(AdmissionTest, LowersTheReservationAfterThePeak) {
  Site site(8, 9000);
  site.ask(1, 6500);
  site.ask(2, 6500);
  EXPECT_EQ(site.decide(), "start 1");
  site.use(1, 1600);
  site.free(9000, 7000);
  EXPECT_EQ(site.decide(), "") << "it may grow again";
  site.admission.lower(1, 1700 * k_MB);
  EXPECT_EQ(site.decide(), "start 2");
  EXPECT_EQ(site.admission.running().at(1).reserved_most, 6500 * k_MB);
  site.admission.lower(1, 5000 * k_MB);
  EXPECT_EQ(site.admission.running().at(1).reserved, 1700 * k_MB) << "only down";
}

TEST(AdmissionTest, StartsOneEarlyAndPausesItIfItGrowsTooSoon) {
  Site site(2, 9000);
  site.sure = true;
  for (std::uint64_t id = 1; id <= 4; ++id) site.ask(id, 6500);
  EXPECT_EQ(site.decide(), "start 1");
  site.use(1, 6000);
  site.free(9000, 2500);
  EXPECT_EQ(site.decide(), "") << "a part of 2 must fit beside what 1 will grow by";
  site.now = 50;
  site.admission.lower(1, 2400 * k_MB);
  site.use(1, 2300);
  site.free(9000, 6200);
  EXPECT_EQ(site.decide(), "start 2") << "9000 - 2400 are less than 6500, but it takes a while to grow";
  EXPECT_TRUE(site.admission.running().at(2).early);
  site.use(2, 5000);
  site.free(9000, 1230);
  EXPECT_EQ(site.decide(), "");
  site.use(2, 5050);
  site.free(9000, 1180);
  EXPECT_EQ(site.decide(), "pause 2") << "before it touches what 1 may still grow by";
  EXPECT_EQ(site.decide(), "");
  site.now = 120;
  site.admission.lower(1, 500 * k_MB);
  site.use(1, 400);
  site.free(9000, 2800);
  EXPECT_EQ(site.decide(), "resume 2");
  EXPECT_FALSE(site.admission.running().at(2).early) << "there is room for it now";
  EXPECT_TRUE(site.admission.running().at(2).started_early);
}

TEST(AdmissionTest, EarlyStartsYieldRegardlessOfAge) {
  Site site(2, 9000);
  site.sure = true;
  site.ask(1, 4700, 100);
  site.ask(2, 4500, 200);
  EXPECT_EQ(site.decide(), "start 2, start 1") << "in one moment";
  site.use(1, 2000);
  site.use(2, 2000);
  site.free(9000, 3500);
  EXPECT_EQ(site.decide(), "pause 1") << "2 may still take 2500";
  site.use(2, 4400);
  site.free(9000, 1100);
  EXPECT_EQ(site.decide(), "") << "nothing is preempted";
}

TEST(AdmissionTest, EarlyStartsRespectOtherLimits) {
  const auto with_one_past_its_peak = [](unsigned cores) {
    Site site(cores, 9000);
    site.sure = true;
    site.ask(1, 6500);
    site.decide();
    site.admission.lower(1, 2400 * k_MB);
    site.use(1, 2300);
    site.free(9000, 6200);
    return site;
  };
  Site free = with_one_past_its_peak(2);
  free.ask(3, 6500);
  EXPECT_EQ(free.decide(), "start 3");

  Site alone = with_one_past_its_peak(2);
  alone.ask_alone(2, 6000);
  alone.ask(3, 6500);
  EXPECT_EQ(alone.decide(), "") << "no compile overtakes one that must run alone";

  Site bounded = with_one_past_its_peak(2);
  bounded.admission.set_jobs("b", 1);
  bounded.ask(3, 6500);
  EXPECT_EQ(bounded.decide(), "");

  Site wide = with_one_past_its_peak(8);
  wide.ask(3, 6500);
  EXPECT_EQ(wide.decide(), "") << "small ones may come for the other cores";
}

TEST(AdmissionTest, StartsNoneEarlyBesideUnknownCompiles) {
  Site site(2, 9000);
  site.ask(1, 6500);
  site.sure = true;
  site.ask(2, 6500);
  EXPECT_EQ(site.decide(), "start 1");
  site.admission.lower(1, 2400 * k_MB);
  site.use(1, 2300);
  site.free(9000, 6200);
  EXPECT_EQ(site.decide(), "");
  EXPECT_EQ(site.why(2), Why::memory);
}

TEST(AdmissionTest, PausesAndResumesTheYoungest) {
  Site site(8, 3000);
  site.ask(1, 300);
  site.decide();
  site.now = 1;
  site.ask(2, 300);
  site.decide();
  site.now = 2;
  site.use(1, 1500);
  site.use(2, 1200);
  site.free(3000, 280);
  EXPECT_EQ(site.decide(), "pause 2");
  EXPECT_EQ(site.decide(), "") << "the oldest always runs on";
  site.now = 5;
  site.admission.finish(1);
  site.free(3000, 1780);
  EXPECT_EQ(site.decide(), "resume 2");
  EXPECT_EQ(site.admission.running().at(2).paused_for, 3);
}

TEST(AdmissionTest, PreemptsTheYoungestWhenPausingIsNotEnough) {
  Site site(8, 3000);
  site.ask(1, 300);
  site.decide();
  site.now = 1;
  site.ask(2, 300);
  site.decide();
  site.use(1, 1500);
  site.use(2, 1200);
  site.free(3000, 280);
  EXPECT_EQ(site.decide(), "pause 2");
  site.use(1, 1700);
  site.free(3000, 80);
  EXPECT_EQ(site.decide(), "preempt 2");
  EXPECT_EQ(site.decide(), "") << "once";
  site.admission.finish(2);
  site.free(3000, 1200);
  site.ask(3, 1500);
  EXPECT_EQ(site.decide(), "");
}

TEST(AdmissionTest, NeverPausesASingleCompile) {
  Site site(8, 3000);
  site.ask(1, 300);
  site.decide();
  site.use(1, 2900);
  site.free(3000, 20);
  EXPECT_EQ(site.decide(), "");
}

TEST(AdmissionTest, PausesNothingWithPlentyOfMemory) {
  Site site(8, 100'000);
  site.ask(1, 300);
  site.ask(2, 300);
  site.decide();
  site.use(1, 5000);
  site.use(2, 5000);
  site.free(100'000, 90'000);
  site.ask(3, 300);
  EXPECT_EQ(site.decide(), "start 3");
}

TEST(AdmissionTest, RunsAnExclusiveCompileAlone) {
  Site site(8, 3000);
  site.ask(1, 100);
  site.decide();
  site.ask_alone(2, 2500);
  site.ask(3, 100, 99);
  EXPECT_EQ(site.decide(), "") << "others do not pass it";
  site.admission.finish(1);
  EXPECT_EQ(site.decide(), "start 2");
  EXPECT_EQ(site.decide(), "");
  EXPECT_EQ(site.why(3), Why::alone);
  site.admission.finish(2);
  EXPECT_EQ(site.decide(), "start 3");
}

TEST(AdmissionTest, RequiresRoomInEveryPool) {
  Admission admission(8);
  admission.set_pool("machine", {64'000 * k_MB, 64'000 * k_MB, false});
  admission.set_pool("small", {3000 * k_MB, 3000 * k_MB, false});
  for (std::uint64_t id = 1; id <= 6; ++id) {
    Ask ask;
    ask.id = id;
    ask.memory = 1400 * k_MB;
    ask.pools = id <= 3 ? std::vector<std::string>{"machine", "small"} : std::vector<std::string>{"machine"};
    admission.ask(ask, 0);
  }
  std::vector<std::uint64_t> started;
  for (const Action& action : admission.decide(0)) started.push_back(action.id);
  EXPECT_EQ(started, (std::vector<std::uint64_t>{1, 2, 4, 5, 6}));
}

TEST(AdmissionTest, GivesSpareCoresToMultithreadedCompiles) {
  Admission admission(4);
  admission.set_pool("m", {20'000 * k_MB, 9'000 * k_MB, false});
  Ask ask;
  ask.id = 1;
  ask.pools = {"m"};
  ask.memory = 3000 * k_MB;
  ask.memory_per_thread = 2000 * k_MB;
  ask.threads = 4;
  admission.ask(ask, 0);
  EXPECT_EQ(admission.decide(0), (std::vector<Action>{{Do::start, 1, 9000 * k_MB, 4}})) << "the first always fits";
  ask.id = 2;
  admission.ask(ask, 0);
  EXPECT_TRUE(admission.decide(0).empty());
}

TEST(AdmissionTest, FinishesACompileInPartsBeforeItBeginsAnother) {
  Site site(1, 100'000);
  const auto ask = [&site](std::uint64_t id, std::uint64_t group) {
    Ask wanted;
    wanted.id = id;
    wanted.build = "b";
    wanted.pools = {"m"};
    wanted.memory = 10 * k_MB;
    wanted.seconds = 10;
    wanted.group = group;
    site.admission.ask(wanted, site.now);
  };
  ask(1, 100);
  ask(2, 200);
  ask(3, 200);
  ask(4, 100);
  EXPECT_EQ(site.decide(), "start 1");
  site.admission.finish(1);
  ask(5, 100);
  EXPECT_EQ(site.decide(), "start 4");
  site.admission.finish(4);
  EXPECT_EQ(site.decide(), "start 5");
  site.admission.finish(5);
  site.admission.end_group(100);
  EXPECT_EQ(site.decide(), "start 2");
  ask(6, 100);
  site.admission.finish(2);
  EXPECT_EQ(site.decide(), "start 3");
}

TEST(AdmissionTest, ReportsTheLongestWaitReason) {
  Site site(1, 3000);
  site.ask(1, 100);
  site.decide();
  site.ask(2, 100);
  site.decide();
  site.now = 4;
  site.decide();
  site.admission.finish(1);
  site.decide();
  EXPECT_EQ(site.admission.running().at(2).why, Why::cores);
  EXPECT_EQ(site.admission.running().at(2).waited, 4);
}

}  // namespace
}  // namespace wheelsmith::governor
