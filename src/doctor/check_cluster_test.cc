#include "doctor/check_cluster.h"

#include <gtest/gtest.h>

namespace wheelsmith::doctor {
namespace {

slurm::ClusterFacts good_cluster() {
  slurm::ClusterFacts facts;
  facts.store = "/shared/store";
  facts.controller.answer = slurm::Answer::good;
  facts.nodes =
      slurm::parse_nodes("n1|all*|idle|4|8000|infinite|(null)|(null)\nn2|all*|down*|4|8000|infinite|(null)|(null)\n");
  facts.submitted.answer = slurm::Answer::good;
  facts.node = slurm::NodeFacts{.node = "n1", .kernel = "6.1", .scratch = "/tmp/x", .scratch_free = 1ull << 40};
  return facts;
}

// The ids of checks that are not good, with their states.
std::string problems(const slurm::ClusterFacts& facts) {
  std::string text;
  for (const Check& check : check_cluster(facts)) {
    if (check.state == State::good) continue;
    text += (text.empty() ? "" : " ") + check.id + ":" + std::string(to_string(check.state));
    EXPECT_FALSE(check.found.empty()) << check.id;
    EXPECT_FALSE(check.fix.empty()) << check.id;
  }
  return text;
}

TEST(CheckCluster, FindsNothingInAGoodOne) {
  EXPECT_EQ(problems(good_cluster()), "");
  EXPECT_EQ(check_cluster(good_cluster()).size(), 8);
}

TEST(CheckCluster, AcceptsAListOfPartitionsAndNodesOfUnknownMemory) {
  slurm::ClusterFacts facts = good_cluster();
  facts.partition = "nope,all";
  EXPECT_EQ(problems(facts), "");
  facts.nodes = slurm::parse_nodes("n1|all*|idle|4|1|infinite|(null)|(null)\n");
  EXPECT_EQ(problems(facts), "");
  EXPECT_NE(check_cluster(facts)[2].found.find("RealMemory"), std::string::npos);
}

TEST(CheckCluster, NamesTheFirstThingThatIsMissing) {
  slurm::ClusterFacts facts = good_cluster();
  facts.node->clock_ahead = -30;
  facts.node->scratch_problem = "the disk is full";
  EXPECT_EQ(problems(facts), "slurm-clock:bad slurm-scratch:bad");
  facts.node.reset();
  EXPECT_EQ(problems(facts), "slurm-program:bad");
  facts.waits = "Resources";
  EXPECT_EQ(problems(facts), "slurm-program:unknown");
  facts.waits = "PartitionDown";
  EXPECT_EQ(problems(facts), "slurm-program:bad") << "no waiting helps";
  facts.submitted = {slurm::Answer::refused, "", "Invalid account"};
  EXPECT_EQ(problems(facts), "slurm-submit:bad");
  facts.partition = "gpu";
  EXPECT_EQ(problems(facts), "slurm-partition:bad");
  facts.controller = {slurm::Answer::away, "", "Unable to contact slurm controller"};
  EXPECT_EQ(problems(facts), "slurm-controller:bad");
  facts.missing = {"sbatch"};
  EXPECT_EQ(problems(facts), "slurm-commands:bad");
}

}  // namespace
}  // namespace wheelsmith::doctor
