#include <gtest/gtest.h>

#include "base/error.h"
#include "document/value.h"
#include "plan/render/render.h"

namespace wheelsmith::plan {
namespace {

// "b" needs "a"; "c" needs "b"; "d" needs nothing.
Plan sample_plan() {
  Plan plan;
  const auto add = [&](const std::string& id, const std::vector<std::string>& needs) {
    Step step;
    step.spec.id = id;
    step.spec.package = id;
    for (const std::string& need : needs) step.needs.push_back({Edge::Kind::environment, need});
    plan.steps.push_back(std::move(step));
  };
  add("a", {});
  add("d", {});
  add("b", {"a"});
  add("c", {"b"});
  return plan;
}

std::string stages_text(const Plan& plan, const MatrixOptions& options = {.command = {"wheelsmith", "build"}}) {
  const document::Value value = document::parse_json(to_github_matrix(plan, options), "matrix");
  std::string text;
  for (const document::Value& stage : *value["stages"].array()) {
    for (const document::Value& job : *stage["include"].array()) text += job["step"].text_or() + " ";
    text += "| ";
  }
  return text;
}

TEST(Matrix, PutsStepsBehindWhatTheyNeed) {
  Plan plan = sample_plan();
  EXPECT_EQ(stages_text(plan), "a d | b | c | ");
  plan.steps[0].decision.cached = true;
  EXPECT_EQ(stages_text(plan), "d b | c | ");
  plan.steps[3].decision.skipped = "refused";
  EXPECT_EQ(stages_text(plan), "d b | ");
}

TEST(Matrix, SplitsStagesThatAreTooLargeForTheService) {
  Plan plan;
  for (int i = 0; i < 300; ++i) {
    Step step;
    step.spec.id = std::to_string(i);
    plan.steps.push_back(std::move(step));
  }
  const document::Value value = document::parse_json(to_github_matrix(plan, {.command = {"x"}}), "matrix");
  ASSERT_EQ(value["stages"].array()->size(), 2u);
  EXPECT_EQ((*value["stages"].array())[0]["include"].array()->size(), 256u);
}

TEST(Matrix, QuotesWhatAShellWouldRead) {
  Plan plan = sample_plan();
  plan.steps[0].spec.id = "a-cuda-cp311-8.0;9.0 $(x)";
  plan.steps[2].needs[0].step = plan.steps[0].spec.id;
  const document::Value value =
      document::parse_json(to_github_matrix(plan, {.command = {"wheelsmith", "build", "it's"}}), "matrix");
  const document::Array& stages = *value["stages"].array();
  EXPECT_EQ(stages[0]["include"].array()->front()["command"].text_or(),
            "wheelsmith build 'it'\\''s' --only 'a-cuda-cp311-8.0;9.0 $(x)'");
}

TEST(Matrix, IsAPipelineWithNeeds) {
  const std::string text = to_gitlab_pipeline(
      sample_plan(), {.command = {"wheelsmith", "build"}, .image = "example/image", .setup = {"echo ready"}});
  const document::Value value = document::parse_json(text.substr(text.find('\n') + 1), "pipeline");
  EXPECT_EQ(value["stages"].array()->size(), 3u);
  EXPECT_EQ(value["default"]["image"].text_or(), "example/image");
  EXPECT_EQ(value["b"]["needs"].array()->front()["job"].text_or(), "a");
  EXPECT_EQ(value["a"]["needs"].array()->size(), 0u);
  EXPECT_EQ(value["c"]["stage"].text_or(), "stage-2");
  EXPECT_EQ(value["c"]["script"].array()->front().text_or(), "wheelsmith build --only c");
}

TEST(Matrix, IsNeverWithoutAJob) {
  const std::string text = to_gitlab_pipeline({}, {.command = {"x"}});
  EXPECT_NE(text.find("nothing-to-build"), text.npos);
  EXPECT_EQ(document::parse_json(to_github_matrix({}, {.command = {"x"}}), "matrix")["jobs"].integer_or(-1), 0);
}

TEST(KeepOnly, LeavesAStepAndWhatItNeeds) {
  Plan plan = sample_plan();
  EXPECT_THROW(keep_only(plan, "c"), Error) << "b is in no store";
  EXPECT_THROW(keep_only(plan, "nothing"), Error);
  plan.steps[0].decision.cached = plan.steps[2].decision.cached = true;
  keep_only(plan, "c");
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(plan.steps[0].id() + plan.steps[1].id() + plan.steps[2].id(), "abc");
}

TEST(KeepOnly, DoesWithoutWhatIsOptionalOrAnotherJobs) {
  Plan plan = sample_plan();
  plan.steps[2].needs[0].optional = true;
  plan.steps[2].needs.push_back({Edge::Kind::alongside, "d"});
  keep_only(plan, "b");
  ASSERT_EQ(plan.steps.size(), 1u);
  EXPECT_TRUE(plan.steps[0].needs.empty());
}

}  // namespace
}  // namespace wheelsmith::plan
