#include <gtest/gtest.h>

#include "base/error.h"
#include "plan/environment.h"
#include "plan/forecast.h"

namespace wheelsmith::plan {

namespace {

std::string problem_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Requirements, ThatAreMalformedNameTheRecipe) {
  for (const char* good :
       {"torch", "triton==3.5.1", "rocm[libraries]==7.1.*", "setuptools>=70,<82; python_version<'4'"})
    EXPECT_EQ(problem_of([&] { check_requirements({good}, "pytorch"); }), "") << good;
  for (const char* bad : {"triton==", "rocm[libraries]==.*", "numpy>=,<2", "=="}) {
    const std::string problem = problem_of([&] { check_requirements({"wheel", bad}, "pytorch"); });
    EXPECT_NE(problem.find("recipe pytorch"), problem.npos) << bad << ": " << problem;
    EXPECT_NE(problem.find(bad), problem.npos) << problem;
  }
}

TEST(Requirements, InVariablesAreCheckedAfterSubstitution) {
  struct Row {
    const char *text, *expanded;
    bool good;
  };
  for (const Row& row : {Row{"triton=={need.triton.version}", "triton==3.5.1", true},
                         {"triton=={need.triton.version}", "triton==", false},
                         {"rocm[libraries]=={rocm.minor}.*", "rocm[libraries]==.*", false},
                         {"| triton=={need.triton.version} | {set.extra}", "| triton==3.5.1 | sympy|jinja2", true},
                         {"-DX=={version}", "-DX==", false},
                         {"{set.flags}", "-DX==", true}}) {  // not a requirement
    const std::string problem =
        problem_of([&] { check_expanded_requirements("EXTRA", row.text, row.expanded, "pytorch"); });
    EXPECT_EQ(problem.empty(), row.good) << row.text << ": " << problem;
    if (!row.good) {
      EXPECT_TRUE(problem.starts_with("EXTRA: the recipe pytorch")) << problem;
    }
  }
}

TEST(Forecast, TheWheelGrowsWithTheArchitectures) {
  recipe::Estimate known;
  known.seconds = 100;
  known.seconds_per_arch = 50;
  known.wheel_size = 800;
  known.wheel_size_per_arch = 570;
  for (const auto& [archs, size] : std::map<std::string, std::uint64_t>{
           {"gfx942", 800}, {"gfx942;gfx950", 1370}, {"gfx90a;gfx942;gfx950;gfx1100", 2510}})
    EXPECT_EQ(estimate(gpu::ArchList::parse(archs), known, 1).wheel_size, size) << archs;
  EXPECT_EQ(estimate({}, known, 1).wheel_size, 800U);
  known.wheel_size_per_arch = ~0ull;  // an absurd value must not overflow
  EXPECT_LT(estimate(gpu::ArchList::parse("gfx942;gfx950"), known, 1).wheel_size, 1ull << 41);
}

}  // namespace wheelsmith::plan
