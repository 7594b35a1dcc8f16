#include "slurm/policy.h"

#include <gtest/gtest.h>

namespace wheelsmith::slurm {
namespace {

constexpr std::uint64_t k_gib = 1ull << 30;

TEST(Limits, AreTheLargestUsableNodeOfThePartition) {
  const std::vector<Node> nodes = parse_nodes(
      "n1|all*|idle|8|16000|1:00:00|(null)|(null)\n"
      "n2|all*|down*|64|999000|1:00:00|(null)|(null)\n"
      "g1|gpu|mixed|32|256000|infinite|gpu:4|(null)\n");
  const NodeLimits all = limits_of(nodes, "", false), gpu = limits_of(nodes, "gpu", true);
  EXPECT_EQ(all.cpus, 8);
  EXPECT_EQ(all.seconds, 3600);
  EXPECT_EQ(gpu.cpus, 32);
  EXPECT_FALSE(gpu.seconds);
  EXPECT_EQ(limits_of(nodes, "all", true).cpus, 0);
  EXPECT_EQ(limits_of(nodes, "all,gpu", false).cpus, 32) << "a list, as sbatch takes it";
}

// RealMemory is 1 by default, and Slurm refuses a job that requests more.
TEST(Limits, WithoutTheMemoryOfTheNodes) {
  const NodeLimits limits = limits_of(parse_nodes("n1|all*|idle|8|1|infinite|(null)|(null)\n"), "", false);
  EXPECT_TRUE(limits.memory_unset);
  EXPECT_EQ(estimate({}, limits, 0).memory, 0);
  EXPECT_EQ(estimate({.wall_seconds = 10, .wall_cpus = 1, .peak_memory = k_gib}, limits, 0).memory, 0);
  // The node has no more to give.
  EXPECT_FALSE(after({.state = JobState::out_of_memory, .node = "n1"}, {.cpus = 2}, 1, limits).again);
}

// Array tasks have one request.
TEST(Estimate, IsTheSameForStepsThatNeedNearlyTheSame) {
  const NodeLimits node{.nodes = 3, .cpus = 16, .memory = 64 * k_gib};
  const Known one{.wall_seconds = 41, .wall_cpus = 1, .peak_memory = 301'000'000};
  const Known other{.wall_seconds = 47, .wall_cpus = 1, .peak_memory = 322'000'000};
  EXPECT_EQ(estimate(one, node, 0), estimate(other, node, 0));
  // At most an eighth more.
  const Known large{.wall_seconds = 41, .wall_cpus = 1, .peak_memory = 20 * k_gib + 1};
  EXPECT_LE(double(estimate(large, node, 0).memory), 1.125 * (1.25 * double(large.peak_memory) + 0.25 * k_gib));
}

TEST(Stuck, SaysWhatNoWaitingChanges) {
  for (const char* reason :
       {"PartitionDown", "PartitionTimeLimit", "ReqNodeNotAvail, UnavailableNodes:n[1-3]", "JobHeldUser",
        "JobHeldAdmin", "launch failed requeued held", "BadConstraints", "InvalidAccount", "InvalidQOS",
        "DependencyNeverSatisfied",
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
        "QOSMaxCpuPerJobLimit", "AssocGrpCPUMinutesLimit"})
    EXPECT_NE(stuck_because(reason), "") << reason;
  for (const char* reason : {"Resources", "Priority", "QOSMaxJobsPerUserLimit", "AssocGrpCpuLimit", "None", "",
                             "JobArrayTaskLimit", "BeginTime", "Licenses"})
    EXPECT_EQ(stuck_because(reason), "") << reason;
}

TEST(Estimate, TakesTheFirstThatKnows) {
  const NodeLimits node{.nodes = 3, .cpus = 16, .memory = 64 * k_gib};
  // Nothing is known.
  const Request blind = estimate({}, node, 0);
  EXPECT_EQ(blind.cpus, 4);
  EXPECT_EQ(blind.memory, 9 * k_gib);
  EXPECT_EQ(blind.seconds, 0);
  // The recipe: two hours of work, 6 GiB a compile, on a node that does not hold 16 of them.
  const Request recipe = estimate({.core_seconds = 7200, .memory_per_compile = 6 * k_gib}, node, 0);
  EXPECT_EQ(recipe.cpus, 16);
  EXPECT_LE(recipe.memory, 64 * k_gib);
  EXPECT_GE(recipe.seconds, 7200 / 16 * 2);
  // The units' model knows better than the recipe.
  EXPECT_EQ(estimate({.unit_memory = k_gib, .core_seconds = 600, .memory_per_compile = 6 * k_gib}, node, 0).memory,
            3 * k_gib);
  // Its last build: 1000 s on 4 cores with 10 GiB.
  const Request again =
      estimate({.wall_seconds = 1000, .wall_cpus = 4, .peak_memory = 10 * k_gib, .core_seconds = 9e9}, node, 4);
  EXPECT_EQ(again.cpus, 4);
  EXPECT_NEAR(double(again.memory), 12.75 * k_gib, k_gib);
  EXPECT_EQ(again.seconds, 3600);
  // The user's --jobs bounds it.
  EXPECT_EQ(estimate({.core_seconds = 1e6}, node, 2).cpus, 2);
}

TEST(Estimate, SharesTheWorkBetweenNodes) {
  const NodeLimits node{.nodes = 8, .cpus = 16, .memory = 64 * k_gib};
  const Request request = estimate({.core_seconds = 14400, .memory_per_compile = k_gib}, node, 0, 4);
  EXPECT_EQ(request.nodes, 4);
  EXPECT_EQ(request.cpus, 12);
  EXPECT_EQ(request.memory, 13 * k_gib) << "of each node";
  // Its last build had four nodes, too: the memory of the first one is known for its cores.
  const Request again =
      estimate({.wall_seconds = 300, .wall_cpus = 48, .wall_nodes = 4, .peak_memory = 10 * k_gib}, node, 0, 4);
  EXPECT_EQ(again.cpus, 12);
  EXPECT_EQ(again.memory, 13 * k_gib) << "a quarter more, rounded up";
}

TEST(After, LeavesAsManyNodesAsTheStepNeeds) {
  const NodeLimits three{.nodes = 3, .cpus = 2, .memory = 4 * k_gib};
  const Ending failed{.state = JobState::node_fail, .node = "n1"};
  EXPECT_EQ(after(failed, {.nodes = 2}, 1, three).request.excluded, std::vector<std::string>{"n1"});
  EXPECT_TRUE(after(failed, {.nodes = 3}, 1, three).request.excluded.empty());
}

TEST(After, AsksForMoreOfWhatWasMissing) {
  const NodeLimits node{.nodes = 3, .cpus = 4, .memory = 16 * k_gib, .seconds = 7200};
  const Request first{.cpus = 2, .memory = k_gib, .seconds = 600};
  const Retry memory = after({.state = JobState::out_of_memory, .node = "n1"}, first, 1, node);
  EXPECT_TRUE(memory.again);
  // A step that needs three times its estimate succeeds the second time.
  EXPECT_GE(memory.request.memory, 3 * k_gib);
  EXPECT_TRUE(memory.request.excluded.empty());
  const Retry time = after({.state = JobState::timeout, .seconds = 601, .time_limit = 600}, first, 1, node);
  EXPECT_TRUE(time.again);
  EXPECT_GE(time.request.seconds, 1200);
  const Retry failed_node = after({.state = JobState::node_fail, .node = "n1"}, first, 1, node);
  EXPECT_TRUE(failed_node.again);
  EXPECT_EQ(failed_node.request.excluded, (std::vector<std::string>{"n1"}));
  EXPECT_EQ(failed_node.request.memory, first.memory);
  EXPECT_TRUE(after({.state = JobState::preempted}, first, 1, node).again);
  EXPECT_TRUE(after({.state = JobState::boot_fail}, first, 1, node).again);
  EXPECT_FALSE(after({.state = JobState::failed}, first, 1, node).again);
  EXPECT_TRUE(
      after({.state = JobState::failed, .node = "n1", .silent = true}, first, 1, node).request.excluded.empty());
  // A node that does not see the store is avoided, as long as there are others.
  const Ending blind{.state = JobState::failed, .node = "n2", .silent = true, .never_began = true};
  Request most = first;
  most.excluded = {"n1"};
  EXPECT_EQ(after(blind, most, 1, {.nodes = 3}).request.excluded, (std::vector<std::string>{"n1", "n2"}));
  EXPECT_EQ(after(blind, most, 1, {.nodes = 2}).request.excluded, (std::vector<std::string>{"n2"}));
  EXPECT_FALSE(after({.state = JobState::cancelled}, first, 1, node).again);
}

TEST(After, TriesAnotherNodeIfTheDiskIsFull) {
  const Ending full{.state = JobState::failed, .node = "n1", .disk_full = true};
  const Retry other = after(full, {.cpus = 2}, 1, {.nodes = 3});
  EXPECT_TRUE(other.again);
  EXPECT_EQ(other.request.excluded, std::vector<std::string>{"n1"});
  EXPECT_FALSE(after(full, {.cpus = 2}, 1, {.nodes = 1}).again) << "there is no other one";
}

TEST(After, EndsSomeTime) {
  const NodeLimits node{.nodes = 3, .cpus = 4, .memory = 16 * k_gib, .seconds = 7200};
  for (const JobState state : {JobState::out_of_memory, JobState::timeout, JobState::node_fail, JobState::preempted,
                               JobState::boot_fail, JobState::unknown}) {
    Request request{.cpus = 2, .memory = k_gib, .seconds = 600};
    unsigned tries = 1;
    for (; tries < 100; ++tries) {
      const Retry retry = after({.state = state, .node = "n1", .seconds = request.seconds}, request, tries, node);
      EXPECT_FALSE(retry.why.empty());
      if (!retry.again) break;
      request = retry.request;
    }
    EXPECT_LE(tries, k_most_tries) << enum_name(state);
  }
  // More than the largest node has is not asked for.
  const Retry full = after({.state = JobState::out_of_memory}, {.memory = 16 * k_gib}, 1, node);
  EXPECT_FALSE(full.again);
  EXPECT_NE(full.why.find("no node has more"), std::string::npos);
}

}  // namespace
}  // namespace wheelsmith::slurm
