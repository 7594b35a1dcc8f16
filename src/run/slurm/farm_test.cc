#include "run/slurm/farm.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "run/slurm/node_step.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::run {
namespace {

TEST(Farm, KeepsATry) {
  Try one;
  one.stage = Try::Stage::test;
  one.number = 3;
  one.attempt = 2;
  one.name = "ws-x";
  one.id = slurm::JobId{12, 3};
  one.request = {.cpus = 4, .memory = 5, .seconds = 6, .gpus = 1, .nodes = 2, .excluded = {"n1"}};
  one.taken = true;
  const Try again = Try::from_value(document::parse_json(document::to_json(one.to_value()), "try"));
  EXPECT_EQ(document::to_json(again.to_value()), document::to_json(one.to_value()));
  EXPECT_EQ(again.id, one.id);
  EXPECT_EQ(again.request, one.request);
  for (const char* text : {R"({"number":0,"name":"x"})", R"({"number":1})", R"({"number":1,"name":"x","job":"y"})"})
    EXPECT_THROW(Try::from_value(document::parse_json(text, "try")), Error) << text;
}

TEST(Farm, FindsTheNewestWholeTry) {
  const sys::TempDir temp;
  const FarmFolder folder(temp.path());
  EXPECT_FALSE(folder.last());
  for (unsigned number : {1u, 9u, 10u}) {
    Try one;
    one.number = number;
    one.name = "x";
    folder.write(one);
  }
  sys::write_file(folder.try_file(11), "{\"number\": 11, \"na");
  sys::write_file(temp.path() / "try-12.jsonl", "{}");
  ASSERT_TRUE(folder.last());
  EXPECT_EQ(folder.last()->number, 10);
}

TEST(Farm, SharesAFolderBetweenCoordinatorsThatMeanTheSame) {
  const sys::TempDir temp;
  store::Store store(temp.path() / "store");
  Job job;
  job.spec.key = std::string(64, 'a');
  Job other = job;
  other.reason = "another text";
  EXPECT_EQ(FarmFolder(store, job).path(), FarmFolder(store, other).path());
  other.no_test = true;
  EXPECT_NE(FarmFolder(store, job).path(), FarmFolder(store, other).path());
}

TEST(Farm, RemovesFilesUnusedForAMonth) {
  namespace fs = std::filesystem;
  const sys::TempDir temp;
  store::Store store(temp.path() / "store");
  const fs::path program = program_for_nodes(store), old_program = store.folder("bin") / std::string(64, 'a');
  sys::write_file(old_program, "x");
  const fs::path steps = store.folder("farm") / "steps";
  sys::make_folders(steps / "new");
  sys::make_folders(steps / "old");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 31);
  for (const fs::path& path : {program, old_program, steps / "old"}) fs::last_write_time(path, long_ago);
  EXPECT_EQ(program_for_nodes(store), program);  // used again
  prune_farm(store);
  EXPECT_TRUE(fs::exists(program));
  EXPECT_FALSE(fs::exists(old_program));
  EXPECT_TRUE(fs::exists(steps / "new"));
  EXPECT_FALSE(fs::exists(steps / "old"));
}

TEST(NodeLines, AreReadBack) {
  const NodeLine line{.kind = NodeLine::Kind::ending, .peak = 7, .disturbed = true, .memory_killed = true};
  const NodeLine read = parse_node_line(to_line(line));
  EXPECT_EQ(read.kind, line.kind);
  EXPECT_EQ(read.peak, 7);
  EXPECT_TRUE(read.disturbed && read.memory_killed);
  EXPECT_EQ(parse_node_line(R"({"event":"phase","text":"build"})").kind, NodeLine::Kind::report);
  EXPECT_THROW(parse_node_line("{\"event\":\"pla"), Error);
}

TEST(NodeStep, StaysWithinTheCoresOfItsJob) {
  EXPECT_EQ(cores_of_job({}), 0);
  EXPECT_EQ(cores_of_job({{"SLURM_CPUS_PER_TASK", "1"}, {"SLURM_CPUS_ON_NODE", "64"}}), 1);
  EXPECT_EQ(cores_of_job({{"SLURM_CPUS_PER_TASK", "x"}}), 0);
}

}  // namespace
}  // namespace wheelsmith::run
