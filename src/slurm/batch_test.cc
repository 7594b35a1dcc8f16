#include "slurm/batch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "slurm/node_step.h"
#include "sys/process/process.h"

namespace wheelsmith::slurm {
namespace {

Batch sample_batch() {
  Batch batch;
  batch.name = "ws-x";
  batch.program = "/store/bin/abc";
  batch.arguments = {"node", "/store/farm/batches/x.json"};
  return batch;
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(BatchScript, QuotesEveryWord) {
  Batch batch = sample_batch();
  batch.program = "/a store/$(touch /tmp/x)/it's";
  batch.arguments = {"node", "`id`\n;rm -rf /"};
  const std::string script = batch_script(batch);
  EXPECT_TRUE(script.starts_with("#!/bin/sh\nexec "));
  // The shell is the judge: the program is replaced by printf.
  batch.program = "/usr/bin/printf";
  batch.arguments.insert(batch.arguments.begin(), "%s|");
  const sys::Captured out = sys::capture({.argv = {"sh", "-c", batch_script(batch)}});
  EXPECT_EQ(out.output, "node|`id`\n;rm -rf /|");
}

TEST(BatchScript, AsksForWhatTheStepNeeds) {
  Batch batch = sample_batch();
  batch.request = {.cpus = 4, .memory = (3ull << 30) + 1, .seconds = 3601, .excluded = {"n1", "n2"}};
  batch.site.partition = "build";
  batch.site.options = {"--account=x"};
  batch.tasks = 3;
  batch.errors = "/store/100%/x.out";
  const std::vector<std::string> words = sbatch_words(batch);
  for (const char* word : {"--cpus-per-task=4", "--mem=3073M", "--time=61", "--exclude=n1,n2", "--partition=build",
                           "--account=x", "--array=0-2", "--output=/store/100%%/x.out.%a"})
    EXPECT_TRUE(has(words, word)) << word;
  EXPECT_FALSE(has(words, "--gpus=1"));
  batch.request.gpus = 1;
  batch.site.gpu_partition = "gpu";
  EXPECT_TRUE(has(sbatch_words(batch), "--gpus=1"));
  EXPECT_TRUE(has(sbatch_words(batch), "--partition=gpu"));
  batch.site.gpus = "gpu:h100:1";
  EXPECT_TRUE(has(sbatch_words(batch), "--gres=gpu:h100:1"));
}

// As Slurm reads the name: a backslash protects the next character and turns replacement off.
TEST(BatchScript, NamesAFileWithABackslash) {
  Batch batch = sample_batch();
  batch.errors = "/a\\b%j/x.out";
  EXPECT_TRUE(has(sbatch_words(batch), "--output=/a\\\\b%j/x.out"));
  batch.tasks = 2;
  EXPECT_TRUE(has(sbatch_words(batch), "--output=/dev/null"));
}

TEST(BatchScript, AsksForSeveralNodes) {
  Batch batch = sample_batch();
  std::vector<std::string> words = sbatch_words(batch);
  EXPECT_TRUE(has(words, "--nodes=1"));
  EXPECT_FALSE(has(words, "--no-kill"));
  batch.request = {.cpus = 4, .nodes = 3};
  words = sbatch_words(batch);
  EXPECT_TRUE(has(words, "--nodes=3"));
  EXPECT_TRUE(has(words, "--ntasks-per-node=1"));
  EXPECT_TRUE(has(words, "--cpus-per-task=4"));
  EXPECT_TRUE(has(words, "--no-kill")) << "the loss of one node does not end the step";
}

TEST(NodeSteps, RunWhereTheyAreSent) {
  const std::vector<std::string> words = srun_words(
      {.launcher = "/usr/bin/srun", .node = "n2", .cpus = 8, .memory = (1ull << 30) + 1, .argv = {"/p", "-x"}});
  EXPECT_EQ(words.front(), "/usr/bin/srun");
  EXPECT_TRUE(has(words, "--nodelist=n2"));
  EXPECT_TRUE(has(words, "--mem=1025M"));
  EXPECT_EQ(words.back(), "-x");
  EXPECT_EQ(words[words.size() - 2], "/p") << "nothing of srun follows the command";
  EXPECT_TRUE(is_srun_variable("SLURM_JOB_ID"));
  for (const char* name : {"SLURM_CPUS_PER_TASK", "SLURM_MEM_PER_NODE", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD"})
    EXPECT_FALSE(is_srun_variable(name)) << name;
}

TEST(SiteOptions, RefuseWhatIsNotTheirs) {
  SiteOptions site;
  SubmitLimits limits;
  set_site_option(site, limits, "options", "--account=x\n-C fast");
  EXPECT_EQ(site.options, (std::vector<std::string>{"--account=x", "-C fast"}));
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"options", "--array=1-9"},
                                                                                   {"options", "-o/tmp/x"},
                                                                                   {"options", "--clusters=b"},
                                                                                   {"options", "-Mb"},
                                                                                   {"options", "--wrap=x"},
                                                                                   {"options", "job.sh"},
                                                                                   {"partition", "--wrap=x"},
                                                                                   {"partitoin", "x"},
                                                                                   {"memory", "much"},
                                                                                   {"time", "soon"},
                                                                                   {"max-queued", "0"}})
    EXPECT_THROW(set_site_option(site, limits, key, value), Error) << key << " " << value;
}

TEST(JobNames, HoldNothingHostile) {
  EXPECT_EQ(job_name("flash-attn-cuda-cp312-8.0;9.0a"), "flash-attn-cuda-cp312-8.0-9.0a");
  EXPECT_EQ(job_name("$(x)|\n"), "--x---");
  EXPECT_EQ(job_name(""), "step");
}

TEST(Group, PutsTheSameShapeTogether) {
  const Shape small{.request = {.cpus = 1}, .site = {}}, large{.request = {.cpus = 8}, .site = {}};
  const auto groups = group({small, large, small, small, large}, 2);
  EXPECT_EQ(groups, (std::vector<std::vector<std::size_t>>{{0, 2}, {1, 4}, {3}}));
}

TEST(Throttle, LetsSoManyThroughInAMinute) {
  Throttle throttle(60);
  unsigned taken = 0;
  for (int i = 0; i < 600; ++i) taken += throttle.take(1000 + i * 0.1) ? 1 : 0;
  EXPECT_LE(taken, 70);
  EXPECT_GE(taken, 65);
  EXPECT_EQ(back_off(0), 1);
  EXPECT_EQ(back_off(100), 30);
}

}  // namespace
}  // namespace wheelsmith::slurm
