#include "plan/environment.h"

#include <gtest/gtest.h>

#include "plan/forecast.h"
#include "plan/step/variables.h"

namespace wheelsmith::plan {

namespace {

using Words = std::vector<std::string>;

recipe::SourceFacts pyproject(Words required) {
  recipe::SourceFacts facts;
  facts.has_pyproject = true;
  facts.requires_ = std::move(required);
  return facts;
}

}  // namespace

TEST(BuildRequirements, AreTheRecipesThenTheSources) {
  recipe::Rules rules;
  const recipe::SourceFacts facts = pyproject({"setuptools>=61", "Ninja", "numpy; python_version<'3.13'", "numpy>=2"});
  EXPECT_EQ(build_requirements({.rules = rules, .facts = facts}), facts.requires_);
  rules.requires_ = {"setuptools==80.9.0", "cmake"};
  EXPECT_EQ(build_requirements({.rules = rules, .facts = facts}),
            (Words{"setuptools==80.9.0", "cmake", "Ninja", "numpy; python_version<'3.13'", "numpy>=2"}));
  rules.drop_requires = {"ninja"};
  rules.not_from_pip = {{"NumPy", "the machine's own"}};
  EXPECT_EQ(build_requirements({.rules = rules, .facts = facts}), (Words{"setuptools==80.9.0", "cmake"}));
}

TEST(BuildRequirements, OfASourceThatDeclaresNoneAreSetuptools) {
  const recipe::Rules rules;
  EXPECT_EQ(build_requirements({.rules = rules, .facts = {}}), (Words{"setuptools", "wheel"}));
  EXPECT_EQ(build_requirements({.rules = rules, .facts = pyproject({})}), (Words{"setuptools", "wheel"}));
}

TEST(BuildRequirements, TorchIsTheOneThatWasChosen) {
  recipe::Rules rules;
  rules.requires_versions.uses_torch = true;
  const recipe::SourceFacts facts = pyproject({"torch>=2.4", "setuptools"});
  choose::TorchChoice torch;
  torch.kind = choose::TorchChoice::Kind::requirement;
  torch.requirement = "torch==2.13.0";
  EXPECT_EQ(build_requirements({.rules = rules, .facts = facts, .torch = torch}),
            (Words{"setuptools", "torch==2.13.0"}));
  torch.kind = choose::TorchChoice::Kind::environment;  // it is installed in the environment
  EXPECT_EQ(build_requirements({.rules = rules, .facts = facts, .torch = torch}), Words{"setuptools"});
  rules.requires_versions.uses_torch = false;  // a package that only needs it in its environment
  EXPECT_EQ(build_requirements({.rules = rules, .facts = facts}), (Words{"torch>=2.4", "setuptools"}));
}

TEST(BuildRequirements, DependenciesThatArePublishedComeFirst) {
  const recipe::Rules rules;
  EXPECT_EQ(
      build_requirements({.rules = rules, .facts = pyproject({"setuptools", "triton"}), .needed = {"triton==3.5"}}),
      (Words{"triton==3.5", "setuptools"}));
}

namespace {

struct Case {
  BuildSpec spec;
  recipe::Rules rules;
  Placeholders values = {{"archs", "8.0;9.0"}, {"version", "1.2"}, {"set.empty", ""}};
  std::vector<FetchSource> fetches;
  std::map<std::string, std::string> user;
  toolchain::Host host;
  bool allow_unsupported = false;

  Case() { spec.build_type = "release"; }
  [[nodiscard]] std::map<std::string, std::string> fixed() const {
    const VariableSpec all = make_variables({spec, rules, values, fetches, user, host, allow_unsupported});
    return {all.fixed.begin(), all.fixed.end()};
  }
  [[nodiscard]] std::map<std::string, std::string> loose() const {
    const VariableSpec all = make_variables({spec, rules, values, fetches, user, host, allow_unsupported});
    return {all.loose.begin(), all.loose.end()};
  }
};

}  // namespace

TEST(Variables, AreNotInherited) {
  Case c;
  c.host.environment = {{"CFLAGS", "-march=native"}, {"PYTHONPATH", "/home"}, {"http_proxy", "x"}};
  const auto fixed = c.fixed();
  EXPECT_EQ(fixed.at("CFLAGS").find("march"), std::string::npos);
  EXPECT_FALSE(fixed.contains("PYTHONPATH"));
  EXPECT_FALSE(fixed.contains("http_proxy"));
  EXPECT_EQ(fixed.at("HOME"), "${tree}/home");
  EXPECT_EQ(fixed.at("SOURCE_DATE_EPOCH"), "315532800");
  c.host.environment["SOURCE_DATE_EPOCH"] = "1700000000";
  EXPECT_EQ(c.fixed().at("SOURCE_DATE_EPOCH"), "1700000000");
}

TEST(Variables, TheRecipesComeAfterOursAndTheUsersLast) {
  Case c;
  c.rules.environment = {{"LANG", "C"}, {"VERSION", "{version}"}, {"UNSET", "{set.empty}"}, {"EMPTY", ""}};
  c.rules.append = {{"CFLAGS", "-Wno-error"}};
  EXPECT_EQ(c.fixed().at("LANG"), "C");
  EXPECT_EQ(c.fixed().at("VERSION"), "1.2");
  EXPECT_FALSE(c.fixed().contains("UNSET"));  // an empty setting sets nothing
  EXPECT_EQ(c.fixed().at("EMPTY"), "");
  EXPECT_TRUE(c.fixed().at("CFLAGS").ends_with(" -Wno-error"));
  c.user = {{"VERSION", "mine"}};
  EXPECT_EQ(c.fixed().at("VERSION"), "mine");
}

TEST(Variables, JobsAndVerbosityAreNotInTheKey) {
  Case c;
  EXPECT_EQ(c.loose().at("MAX_JOBS"), "${jobs}");
  EXPECT_FALSE(c.loose().contains("VERBOSE"));
  c.spec.verbose = true;
  EXPECT_EQ(c.loose().at("VERBOSE"), "1");
  // Never two values: a variable that an option replaces is not taken from --env.
  c.user = {{"MAX_JOBS", "2"}};
  EXPECT_EQ(c.loose().at("MAX_JOBS"), "${jobs}");
  EXPECT_FALSE(c.fixed().contains("MAX_JOBS"));
}

TEST(Variables, NinjaShowsTheTimeAndItsFormatIsNotInTheKey) {
  Case c;
  EXPECT_EQ(c.loose().at("NINJA_STATUS"), "[%f/%t %es] ");
  c.user = {{"NINJA_STATUS", "%f/%t "}};
  EXPECT_EQ(c.loose().at("NINJA_STATUS"), "%f/%t ");
  EXPECT_FALSE(c.fixed().contains("NINJA_STATUS"));
}

TEST(Variables, ClangAsTheHostCompilerOfNvcc) {
  Case c;
  c.spec.variant = recipe::Variant::cuda;
  EXPECT_FALSE(c.fixed().contains("NVCC_PREPEND_FLAGS")) << "gcc needs nothing";
  c.spec.tools.compiler_family = "clang";
  EXPECT_EQ(c.fixed().at("NVCC_PREPEND_FLAGS"), "-ccbin=${tree}/bin/c++ -Xcompiler -stdlib=libstdc++ -std=c++17");
  c.rules.requires_versions.cxx_standard = 20;
  EXPECT_EQ(c.fixed().at("NVCC_PREPEND_FLAGS"), "-ccbin=${tree}/bin/c++ -Xcompiler -stdlib=libstdc++ -std=c++20");
  c.spec.tools.compiler_family = "gcc";
  c.allow_unsupported = true;
  EXPECT_EQ(c.fixed().at("NVCC_PREPEND_FLAGS"), "-allow-unsupported-compiler");
  c.spec.variant = recipe::Variant::cpu;
  EXPECT_FALSE(c.fixed().contains("NVCC_PREPEND_FLAGS"));
}

TEST(Variables, OfAVariant) {
  Case c;
  EXPECT_FALSE(c.fixed().contains("CUDA_HOME"));
  c.rules.archs.variable = "TORCH_CUDA_ARCH_LIST";
  c.spec.variant = recipe::Variant::cuda;
  c.spec.archs = gpu::ArchList::parse("8.0;9.0");
  EXPECT_EQ(c.fixed().at("CUDA_HOME"), "${toolkit}");
  EXPECT_EQ(c.fixed().at("TORCH_CUDA_ARCH_LIST"), "8.0;9.0");
  EXPECT_EQ(c.fixed().at("PATH").substr(0, 37), "${env}/bin:${tree}/bin:${toolkit}/bin");
  c.spec.variant = recipe::Variant::rocm;
  c.spec.tools.rocm.clang = "lib/llvm/bin";
  EXPECT_EQ(c.fixed().at("HIPCXX"), "${rocm}/lib/llvm/bin/clang++");
}

TEST(Variables, NameFetchedSources) {
  Case c;
  recipe::Fetch fetch;
  fetch.name = "cutlass";
  fetch.variable = "CUTLASS_DIR";
  fetch.subfolder = "include";
  c.rules.fetches = {fetch};
  EXPECT_FALSE(c.fixed().contains("CUTLASS_DIR"));
  c.fetches = {{"cutlass", {}}};
  EXPECT_EQ(c.fixed().at("CUTLASS_DIR"), "${tree}/fetched/cutlass/include");
}

TEST(Forecast, GrowsWithArchitecturesAndShrinksWithCores) {
  recipe::Estimate known;
  known.seconds = 600;
  known.seconds_per_arch = 400;
  known.memory_per_job = 5;
  EXPECT_DOUBLE_EQ(estimate(gpu::ArchList::parse("9.0"), known, 2).seconds, 300);
  EXPECT_DOUBLE_EQ(estimate(gpu::ArchList::parse("8.0;9.0"), known, 2).seconds, 500);
  EXPECT_EQ(estimate({}, known, 1).from, Forecast::From::recipe);
  EXPECT_EQ(estimate({}, {}, 1).from, Forecast::From::nothing);
}

TEST(Forecast, ChainsAreCountedFromTheirEnds) {
  Plan plan;
  const auto add = [&](const char* id, double seconds, std::vector<Edge> needs) {
    Step step;
    step.spec.id = id;
    step.decision.forecast.seconds = seconds;
    step.needs = std::move(needs);
    plan.steps.push_back(std::move(step));
  };
  add("a", 10, {});
  add("b", 100, {{.step = "a"}});
  add("c", 1, {{.step = "a"}});
  add("d", 0, {{.step = "b"}, {.step = "c"}});  // unknown: counted as one minute
  EXPECT_EQ(critical_seconds(plan), (std::vector<double>{170, 160, 61, 60}));
  plan.steps[1].decision.cached = true;
  EXPECT_EQ(critical_seconds(plan), (std::vector<double>{71, 60, 61, 60}));
}

}  // namespace wheelsmith::plan
