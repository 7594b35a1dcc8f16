#include "report/build/failure_block.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace wheelsmith::report {
namespace {

run::StepOutcome long_failure() {
  run::StepOutcome step;
  step.id = "texture-cuda-cp311";
  step.phase = plan::Phase::build;
  step.cause = "the build backend setuptools.build_meta (build_wheel) failed: exit status 1";
  step.log = "/home/me/.cache/wheelsmith/logs/texture-cuda-cp311-0123456789abcdef-0123456789ab.log";
  step.repeat_script = "/home/me/.cache/wheelsmith/trees/texture-cuda-cp311-0123456789abcdef/repeat.sh";
  run::FirstFailure failure;
  failure.line = 12345;
  for (int i = 0; i < 200; ++i) {
    failure.command += "-I/some/folder/include ";
    failure.output += "texture.cc:" + std::to_string(i) + ":5: error: " + std::string(200, 'x') + "\n";
  }
  step.failure = failure;
  diagnose::Cause cause;
  cause.kind = "source-bug";
  cause.id = "header-missing";
  cause.sure = "certain";
  cause.what = std::string(40, 'w') + " " + std::string(400, 'w');
  for (int i = 0; i < 30; ++i) cause.what += " word";
  cause.why = {{48, "texture.cc:2:10: fatal error: " + std::string(300, 'h')}, {99, "ninja: build stopped"}};
  cause.fixes = {"apt-get install -y libcairo2-dev", "the same command with --clean", "a third one"};
  step.diagnosis = cause;
  return step;
}

TEST(FailureBlock, FitsOneScreenAndEndsWithTheFix) {
  Style style;
  style.width = 80;
  const std::string block = failure_block(long_failure(), style);
  std::vector<std::string_view> all = lines(block);
  std::size_t count = 0;
  for (const std::string_view line : all) count += 1 + (std::max<std::size_t>(columns(line), 1) - 1) / 80;
  EXPECT_LE(count, 24u) << block;
  EXPECT_EQ(all.back(), "  fix: the same command with --clean");
  const std::size_t cause = block.find("  cause: "), message = block.find("  message: "), fix = block.find("  fix: ");
  EXPECT_LT(cause, message);
  EXPECT_LT(message, fix);
  EXPECT_NE(fix, std::string::npos);
  EXPECT_NE(block.find("lines omitted"), std::string::npos);
}

TEST(FailureBlock, ShowsEverythingWithAll) {
  Style style;
  style.details = true;
  const std::string block = failure_block(long_failure(), style);
  EXPECT_NE(block.find("texture.cc:100:5: error: "), std::string::npos);
  EXPECT_NE(block.find("a third one"), std::string::npos);
}

TEST(FailureBlock, NamesTheRejectedWheel) {
  run::StepOutcome step;
  step.id = "x";
  step.cause = "the test import failed";
  step.refused_wheel = "wheelhouse/failed/x-1.0-py3-none-any.whl";
  EXPECT_NE(failure_block(step, {}).find("rejected wheel: wheelhouse/failed/x-1.0-py3-none-any.whl"),
            std::string::npos);
}

}  // namespace
}  // namespace wheelsmith::report
