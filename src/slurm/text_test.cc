#include "slurm/text.h"

#include <gtest/gtest.h>

namespace wheelsmith::slurm {
namespace {

TEST(JobIds, AreNumbersAndTasksOfArrays) {
  EXPECT_EQ(parse_job_id("12"), (JobId{12}));
  EXPECT_EQ(parse_job_id("12_3"), (JobId{12, 3}));
  for (const char* text : {"", "0", "12_", "_3", "12_[0-3]", "12_3_4", "x", "-1", "12_99999999999"})
    EXPECT_FALSE(parse_job_id(text)) << text;
  EXPECT_EQ(to_string(JobId{12, 0}), "12_0");
}

TEST(JobStates, AreReadAsEveryCommandPrintsThem) {
  const std::pair<const char*, JobState> cases[] = {
      {"RUNNING", JobState::running},          {"CANCELLED by 1000", JobState::cancelled},
      {"OUT_OF_ME+", JobState::out_of_memory}, {"NODE_FAIL", JobState::node_fail},
      {"COMPLETI+", JobState::completing},     {"CONFIGURING", JobState::running},
      {"REQUEUED", JobState::pending},         {"LAUNCH_FAILED", JobState::boot_fail},
      {"SOMETHING_NEW", JobState::unknown},    {"", JobState::unknown},
      {" TIMEOUT ", JobState::timeout}};
  for (const auto& [text, state] : cases) EXPECT_EQ(job_state_named(text), state) << text;
}

// As `sbatch --parsable` of 22.05 prints it; on a site whose wrapper greets, and in a federation.
TEST(Sbatch, PrintsANumber) {
  EXPECT_EQ(parse_submitted("12\n"), 12);
  EXPECT_EQ(parse_submitted("12;east\n"), 12);
  EXPECT_EQ(parse_submitted("Welcome to the cluster!\n\n  4711\n"), 4711);
  EXPECT_FALSE(parse_submitted("sbatch: error: Batch job submission failed\n"));
  EXPECT_FALSE(parse_submitted(""));
}

TEST(Squeue, ListsJobs) {
  const auto jobs = parse_queue(
      "1|RUNNING|1-02:03:04|n1|ws-a-1234|None\n"
      "7_2|PENDING|0:00||ws-array|Nodes required for job are DOWN, DRAINED or reserved | held\n"
      "slurm_load_jobs error\n"
      "8_[3-9]|PENDING|0:00||x|Priority\n");
  ASSERT_EQ(jobs.size(), 2);
  EXPECT_EQ(jobs[0].id, (JobId{1}));
  EXPECT_EQ(jobs[0].seconds, 93784);
  EXPECT_EQ(jobs[0].node, "n1");
  EXPECT_EQ(jobs[0].reason, "");
  EXPECT_EQ(jobs[1].id, (JobId{7, 2}));
  EXPECT_EQ(jobs[1].state, JobState::pending);
  EXPECT_EQ(jobs[1].node, "");
  EXPECT_EQ(jobs[1].reason, "Nodes required for job are DOWN, DRAINED or reserved | held");
}

// Printed by slurmctld 22.05.8.
TEST(Scontrol, ShowsAJobOnALine) {
  const auto jobs = parse_jobs(
      "JobId=5 ArrayJobId=4 ArrayTaskId=1 JobName=ws two words UserId=root(0) JobState=OUT_OF_MEMORY "
      "Reason=OutOfMemory "
      "Dependency=(null) Requeue=0 ExitCode=0:125 RunTime=00:00:03 TimeLimit=01:00:00 TimeMin=N/A NodeList=n2 "
      "BatchHost=n2 "
      "ReqB:S:C:T=0:0:*:* CPUs/Task=1 StdOut=/tmp/a b=c Power= \n"
      "JobId=6 JobName=x JobState=NODE_FAIL Reason=NodeDown ExitCode=1:0 RunTime=1-00:00:00 TimeLimit=UNLIMITED "
      "NodeList=(null)\n");
  ASSERT_EQ(jobs.size(), 2);
  EXPECT_EQ(jobs[0].id, (JobId{4, 1}));
  EXPECT_EQ(jobs[0].name, "ws two words");
  EXPECT_EQ(jobs[0].state, JobState::out_of_memory);
  EXPECT_EQ(jobs[0].reason, "OutOfMemory");
  EXPECT_EQ(jobs[0].signal, 125);
  EXPECT_EQ(jobs[0].time_limit, 3600);
  EXPECT_EQ(jobs[0].node, "n2");
  EXPECT_EQ(jobs[1].id, (JobId{6}));
  EXPECT_EQ(jobs[1].node, "");
  EXPECT_EQ(jobs[1].seconds, 86400);
  EXPECT_FALSE(jobs[1].time_limit);
}

TEST(Sacct, GivesAJobThePeakOfItsSteps) {
  const auto jobs = parse_accounting(
      "4_1|ws|OUT_OF_MEMORY|0:125|3||n2\n"
      "4_1.batch|batch|OUT_OF_MEMORY|0:125|3|204800K|n2\n"
      "4_1.extern|extern|COMPLETED|0:0|3|1.5M|n2\n"
      "9|y|CANCELLED by 0|0:15|100||None assigned\n");
  ASSERT_EQ(jobs.size(), 2);
  EXPECT_EQ(jobs[0].id, (JobId{4, 1}));
  EXPECT_EQ(jobs[0].peak_memory, 204800ull << 10);
  EXPECT_EQ(jobs[0].state, JobState::out_of_memory);
  EXPECT_EQ(jobs[1].state, JobState::cancelled);
  EXPECT_EQ(jobs[1].node, "");
}

TEST(Sinfo, ListsNodesByPartition) {
  const auto nodes = parse_nodes(
      "n1|all*|idle|2|4000|infinite|(null)|(null)\n"
      "n1|short|mixed|2|4000|1:00:00|(null)|(null)\n"
      "g1|gpu|down*|64+|512000+|2-00:00:00|gpu:h100:4(S:0-1)|avx512,hopper\n"
      "broken\n");
  ASSERT_EQ(nodes.size(), 3);
  EXPECT_EQ(nodes[0].partition, "all");
  EXPECT_TRUE(nodes[0].default_partition);
  EXPECT_EQ(nodes[0].memory, 4000ull << 20);
  EXPECT_FALSE(nodes[0].time_limit);
  EXPECT_TRUE(nodes[1].usable());
  EXPECT_EQ(nodes[1].time_limit, 3600);
  EXPECT_FALSE(nodes[2].usable());
  EXPECT_TRUE(nodes[2].has_gpu());
  EXPECT_EQ(nodes[2].cpus, 64);
}

TEST(Durations, AreReadAsSlurmWritesThem) {
  const std::pair<const char*, std::uint64_t> cases[] = {{"5", 300},     {"5:30", 330},     {"2:00:00", 7200},
                                                         {"1-0", 86400}, {"1-2:30", 95400}, {"1-02:03:04", 93784},
                                                         {"00:00:03", 3}};
  for (const auto& [text, seconds] : cases) EXPECT_EQ(parse_duration(text), seconds) << text;
  for (const char* text : {"", "UNLIMITED", "infinite", "INVALID", "1:2:3:4", "-5", "x"})
    EXPECT_FALSE(parse_duration(text)) << text;
  EXPECT_EQ(to_minutes(61), "2");
}

// The messages are Slurm's own.
TEST(Errors, AreToldApart) {
  const std::pair<const char*, Answer> cases[] = {
      {"slurm_load_jobs error: Unable to contact slurm controller (connect failure)", Answer::away},
      {"sbatch: error: Batch job submission failed: Socket timed out on send/recv operation", Answer::away},
      {"sbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size "
       "and/or time limits)",
       Answer::later},
      {"sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying", Answer::later},
      {"sbatch: error: invalid partition specified: nope", Answer::refused},
      {"sbatch: error: Batch job submission failed: Requested node configuration is not available", Answer::refused},
      {"slurm_load_jobs error: Invalid job id specified", Answer::no_job}};
  for (const auto& [text, answer] : cases) EXPECT_EQ(classify(1, text), answer) << text;
  EXPECT_EQ(classify(0, "a warning"), Answer::good);
}

}  // namespace
}  // namespace wheelsmith::slurm
