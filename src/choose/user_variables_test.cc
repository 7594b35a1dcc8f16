#include "choose/user_variables.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/request_error.h"
#include "choose/test_recipe.h"
#include "choose/variants.h"

namespace wheelsmith::choose {

namespace {

using recipe::Variant;

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + "\n";
  return text;
}

}  // namespace

// Maps the environment, --env and --arch to the architectures and a part of the note.
TEST(UserVariables, OfArchitecturesGiveOneValue) {
  struct Row {
    const char* what;
    Variant variant = Variant::cuda;
    sys::Environment exported{};
    std::map<std::string, std::string> given{};
    const char* archs = "";
    const char *wanted = "", *told = "";
  };
  const std::vector<Row> rows = {
      {.what = "exported",
       .exported = {{"TORCH_CUDA_ARCH_LIST", "9.0"}},
       .wanted = "9.0",
       .told = "architectures 9.0 from TORCH_CUDA_ARCH_LIST in the environment"},
      {.what = "as torch takes it",
       .exported = {{"TORCH_CUDA_ARCH_LIST", "8.0 9.0+PTX"}},
       .wanted = "8.0;9.0+PTX",
       .told = "from TORCH_CUDA_ARCH_LIST"},
      {.what = "as CMake takes it",
       .exported = {{"CUDAARCHS", "80;90"}},
       .wanted = "8.0;9.0",
       .told = "from CUDAARCHS"},
      {.what = "an option wins",
       .exported = {{"TORCH_CUDA_ARCH_LIST", "8.0"}},
       .archs = "9.0",
       .wanted = "9.0",
       .told = "TORCH_CUDA_ARCH_LIST=8.0 in the environment is ignored"},
      {.what = "of the other vendor",
       .variant = Variant::rocm,
       .exported = {{"TORCH_CUDA_ARCH_LIST", "8.0"}, {"PYTORCH_ROCM_ARCH", "gfx942"}},
       .wanted = "gfx942",
       .told = "from PYTORCH_ROCM_ARCH"},
      {.what = "no list",
       .exported = {{"TORCH_CUDA_ARCH_LIST", "natif"}},
       .wanted = "8.0;9.0",
       .told = "; ignored, choose architectures"},
      {.what = "empty", .exported = {{"TORCH_CUDA_ARCH_LIST", " "}}, .wanted = "8.0;9.0", .told = "of the recipe"},
      {.what = "by --env",
       .exported = {{"TORCH_CUDA_ARCH_LIST", "8.0"}},
       .given = {{"TORCH_CUDA_ARCH_LIST", "9.0"}},
       .wanted = "9.0",
       .told = "architectures 9.0 from --env TORCH_CUDA_ARCH_LIST"},
      {.what = "the same twice",
       .given = {{"TORCH_CUDA_ARCH_LIST", "9.0"}},
       .archs = "9.0",
       .wanted = "9.0",
       .told = "from --env"},
      {.what = "two values", .given = {{"TORCH_CUDA_ARCH_LIST", "8.0"}}, .archs = "9.0", .told = "two values"},
      {.what = "no list by --env",
       .given = {{"TORCH_CUDA_ARCH_LIST", "natif"}},
       .told = "--env TORCH_CUDA_ARCH_LIST=natif"},
      {.what = "none for a CPU", .variant = Variant::cpu, .exported = {{"TORCH_CUDA_ARCH_LIST", "9.0"}}, .wanted = ""},
  };
  for (const Row& row : rows) {
    Request request;
    request.environment = row.given;
    if (*row.archs != 0) request.archs = {gpu::ArchList::parse(row.archs)};
    std::string archs, told;
    try {
      const auto chosen = choose_archs(request, vision_recipe(), row.variant, {}, row.exported);
      for (const gpu::ArchList& list : chosen.what) archs += list.to_string();
      told = notes_text(chosen.notes);
    } catch (const RequestError& error) {
      told = error.what();
    }
    EXPECT_EQ(archs, row.wanted) << row.what;
    EXPECT_NE(told.find(row.told), std::string::npos) << row.what << ": " << told;
  }
}

TEST(UserVariables, ThatAnOptionReplacesAreRejected) {
  for (const auto& [variable, option] : std::map<std::string, std::string>{{"CUDA_HOME", "--cuda"},
                                                                           {"CUDA_PATH", "--cuda"},
                                                                           {"ROCM_PATH", "--rocm"},
                                                                           {"CC", "--cc"},
                                                                           {"CXX", "--cxx"},
                                                                           {"MAX_JOBS", "--jobs"}}) {
    try {
      refuse_options_in({{variable, "x"}});
      ADD_FAILURE() << variable;
    } catch (const RequestError& error) {
      EXPECT_NE(std::string(error.what()).find("use " + option + " instead"), std::string::npos) << error.what();
    }
  }
  refuse_options_in({{"TORCH_CUDA_ARCH_LIST", "9.0"}, {"BUILD_VERSION", "1.0"}, {"USE_MKLDNN", "0"}});
}

TEST(UserVariables, ThatAreNotPassedToBuildsAreReported) {
  EXPECT_EQ(exported_notes({{"PATH", "/bin"}, {"CUDA_HOME", "/c"}, {"CFLAGS", ""}}), std::vector<std::string>());
  EXPECT_EQ(exported_notes({{"BUILD_VERSION", "1"}}),
            std::vector<std::string>{
                "BUILD_VERSION is set in the environment and ignored; --env BUILD_VERSION=… passes it to the build"});
}

}  // namespace wheelsmith::choose
