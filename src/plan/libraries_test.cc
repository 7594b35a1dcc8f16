#include "plan/libraries.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "plan/step/placeholders.h"
#include "toolchain/test_machine.h"

namespace wheelsmith::plan {
namespace {

constexpr std::string_view k_needy = R"(
name = "needy"
[source]
sdist = "needy"
[variant.cuda.requires]
libraries = ["cudnn>=8.5", "nccl", "miopen", "mpi"]
[variant.cuda.requires.places]
nccl = "{set.nccl}"
[variant.cuda.build.environment]
CUDNN_ROOT = "{library.cudnn.root}"
[settings.nccl]
help = "where it is"
default = ""
)";

struct NeedyStep {
  toolchain::TestMachine machine;
  recipe::Recipe recipe = recipe::parse_recipe(k_needy, "needy.toml");
  BuildSpec spec;
  Settings settings = {{"nccl", ""}};

  NeedyStep() {
    machine.only_own_path();
    spec.package = "needy";
    spec.build_type = "release";
    spec.variant = recipe::Variant::cuda;
    spec.python.version = "3.12.3";
    spec.python.abi = "cp312";
    spec.tools.cuda = {(machine.root() / "cuda").string(), "", "13.0"};
  }
  [[nodiscard]] const recipe::Rules& rules() const { return recipe.rules(spec.variant, ""); }
  void plan() { spec.tools.libraries = plan_libraries(spec, rules(), settings, machine.where); }
  [[nodiscard]] const toolchain::Library& library(std::string_view name) const {
    for (const toolchain::Library& one : spec.tools.libraries) {
      if (one.name == name) return one;
    }
    throw Error("no such library");
  }
  void add_cudnn(const std::string& root, const std::string& major) {
    machine.file(root + "/include/cudnn_version.h", "#define CUDNN_MAJOR " + major + "\n#define CUDNN_MINOR 1\n");
    machine.file(root + "/lib64/libcudnn.so");
  }
  void add_nccl(const std::string& root) {
    machine.file(root + "/include/nccl.h", "#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n");
    machine.file(root + "/lib/libnccl.so.2");
  }
};

TEST(PlanLibraries, KnownOnesOfTheVariantFoundOrNot) {
  NeedyStep step;
  step.plan();
  ASSERT_EQ(step.spec.tools.libraries.size(), 2U);  // MIOpen belongs to ROCm, MPI is unknown
  EXPECT_EQ(step.library("cudnn").state(), toolchain::Library::State::missing);
  // The rules pass the path of cuDNN to the build, but not that of NCCL.
  EXPECT_THROW(library_notes(step.spec, step.rules(), step.machine.where), Error);
  step.add_cudnn("cuda", "9");
  step.plan();
  EXPECT_EQ(step.library("cudnn").file, step.machine.root() / "cuda/lib64/libcudnn.so");
  EXPECT_EQ(step.library("cudnn").digest.size(), 64U);
  const std::vector<std::string> warnings = library_notes(step.spec, step.rules(), step.machine.where);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "warning: needy: NCCL is required; found: none; apt-get install libnccl-dev (NVIDIA's repository), or give "
            "it with --set nccl=PATH");
}

TEST(PlanLibraries, AnOldOneIsAWarning) {
  NeedyStep step;
  step.add_cudnn("cuda", "7");
  step.add_nccl("usr");
  step.plan();
  const std::vector<std::string> warnings = library_notes(step.spec, step.rules(), step.machine.where);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("is cuDNN 7.1, but >=8.5 is required"), std::string::npos) << warnings[0];
}

TEST(PlanLibraries, ASettingAndTheSitesOfTorch) {
  NeedyStep step;
  step.add_nccl("opt/nccl");
  step.settings["nccl"] = (step.machine.root() / "opt/nccl").string();
  step.plan();
  EXPECT_EQ(step.library("nccl").found_by, "the setting");
  // Without isolation, the build uses the interpreter's packages.
  step.settings["nccl"].clear();
  step.spec.environment.isolated = false;
  step.spec.python.sites = {step.machine.root() / "site"};
  step.add_nccl("site/nvidia/nccl");
  step.plan();
  EXPECT_EQ(step.library("nccl").file, step.machine.root() / "site/nvidia/nccl/lib/libnccl.so.2");
}

TEST(PlanLibraries, AnEnvironmentVariableIsReported) {
  NeedyStep step;
  step.add_cudnn("opt/cudnn", "9");
  step.add_nccl("usr");
  step.machine.where.environment["CUDNN_ROOT"] = (step.machine.root() / "opt/cudnn").string();
  step.plan();
  const std::vector<std::string> notes = library_notes(step.spec, step.rules(), step.machine.where);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(notes[0].starts_with("needy: cuDNN 9.1 (") && notes[0].ends_with(") from CUDNN_ROOT")) << notes[0];
}

TEST(PlanLibraries, NamesInTheCommonSpelling) {
  NeedyStep step;
  step.recipe = recipe::parse_recipe(
      "name = \"needy\"\n[source]\nsdist = \"needy\"\n[variant.cuda.requires]\nlibraries = [\"cuDNN>=8.5\"]\n",
      "n.toml");
  step.plan();
  EXPECT_EQ(library_notes(step.spec, step.rules(), step.machine.where).size(), 1U);
}

TEST(PlanLibraries, WheelsOfTheLock) {
  NeedyStep step;
  step.spec.environment.lock.wheels = {{"nvidia-cudnn-cu13", "9.13.0.50", "x.whl", "", "ab"}};
  step.plan();
  EXPECT_EQ(step.library("cudnn").header, "${env}/lib/python3.12/site-packages/nvidia/cudnn/include/cudnn_version.h");
  EXPECT_EQ(step.library("cudnn").digest, "nvidia-cudnn-cu13 ab");
  // A toolkit made from wheels contains the library, and gets the missing wheels.
  step.spec.tools.cuda = {"", "13.0", "13.0"};
  step.plan();
  EXPECT_EQ(step.library("cudnn").file, "${toolkit}/lib64/libcudnn.so");
  EXPECT_EQ(library_requirements(step.spec, step.rules(), step.settings, step.machine.where, "13.0"),
            std::vector<std::string>{"nvidia-nccl-cu13"});
  step.spec.environment.lock.wheels.clear();
  EXPECT_EQ(library_requirements(step.spec, step.rules(), step.settings, step.machine.where, "13.0"),
            (std::vector<std::string>{"nvidia-cudnn-cu13>=8.5", "nvidia-nccl-cu13"}));
}

TEST(PlanLibraries, PlaceholdersAreOnePlaceForEveryLayout) {
  NeedyStep step;
  const Placeholders values = placeholder_values({.spec = step.spec,
                                                  .recipe = step.recipe,
                                                  .rules = step.rules(),
                                                  .settings = step.settings,
                                                  .need_versions = {},
                                                  .fetches = {}});
  EXPECT_EQ(values.at("library.cudnn.root"), "${tree}/libraries/cudnn");
  EXPECT_EQ(values.at("library.cudnn.include"), "${tree}/libraries/cudnn/include");
  EXPECT_EQ(values.at("library.cudnn.lib"), "${tree}/libraries/cudnn/lib");
  EXPECT_EQ(values.at("library.nccl.file"), "${tree}/libraries/nccl/lib/libnccl.so");
  EXPECT_FALSE(values.contains("library.mpi.root"));
}

}  // namespace
}  // namespace wheelsmith::plan
