#include <fstream>

#include "env/rocm_wheels.h"
#include "env/test_env.h"
#include "testing/tar_builder.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

using testing::TarBuilder;

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

Environment environment_with(TestEnv& test, const TarBuilder& tar) {
  const Environment env = test.scratch();
  write(env.site_packages / "_rocm_sdk_core/bin/hipcc", "hipcc");
  write(env.site_packages / "_rocm_sdk_core/lib/llvm/bin/amdclang", "clang");
  write(env.site_packages / "rocm_sdk_devel/_devel.tar", tar.build());
  return env;
}

TarBuilder good_tar() {
  TarBuilder tar;
  tar.add("_rocm_sdk_devel/include/hip/hip_runtime.h", "header")
      .add({.name = "_rocm_sdk_devel/bin/hipcc", .type = '2', .target = "../../_rocm_sdk_core/bin/hipcc"})
      .add({.name = "_rocm_sdk_devel/bin/amdclang", .type = '2', .target = "../lib/llvm/bin/amdclang"})
      .add({.name = "_rocm_sdk_devel/lib/llvm/bin/amdclang",
            .type = '2',
            .target = "../../../../_rocm_sdk_core/lib/llvm/bin/amdclang"})
      .add({.name = "_rocm_sdk_devel/llvm", .type = '2', .target = "lib/llvm"});
  return tar;
}

}  // namespace

// An unreachable index does not say that it lacks the libraries: an older ROCm would be selected.
TEST(Rocm, FailsForAnUnreachableIndex) {
  TestEnv test;
  for (const char* project : {"rocm_sdk_core", "rocm_sdk_devel"})
    test.put(testing::WheelBuilder(project, "7.1", "py3-none-any"));
  fetch::FetchOptions options = test.fetcher.options();
  options.index.no_index = false;
  options.index.index_url = "http://127.0.0.1:1/simple";
  options.index.retries = 0;
  fetch::Fetcher unreachable(test.store, options);
  const std::string error =
      error_of([&] { choose_rocm_wheels({.targets = {"gfx1151"}, .families = {"gfx115X"}}, unreachable); });
  EXPECT_NE(error.find("127.0.0.1:1"), std::string::npos) << error;
  // An index that answers does say so.
  const std::string lacking = error_of([&] { choose_rocm_wheels({.targets = {"gfx1151"}}, test.fetcher); });
  EXPECT_NE(lacking.find("has neither rocm-sdk-libraries"), std::string::npos) << lacking;
}

TEST(Rocm, UnpacksDevelBesideTheEnvironment) {
  TestEnv test;
  const Environment env = environment_with(test, good_tar());
  const std::size_t before = sys::list_tree(env.root).size();
  const fs::path root = make_rocm(env, test.store);
  EXPECT_EQ(root.filename(), "_rocm_sdk_devel");
  EXPECT_TRUE(fs::is_regular_file(root / "include/hip/hip_runtime.h"));
  // hipcc searches for its parts beside its own file: not a link. The drivers inspect the link.
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root / "bin/hipcc")));
  EXPECT_TRUE(fs::is_symlink(root / "bin/amdclang"));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root / "lib/llvm/bin/amdclang")));
  EXPECT_TRUE(fs::is_regular_file(root / "llvm/bin/amdclang"));
  EXPECT_EQ(sys::list_tree(env.root).size(), before);
  EXPECT_EQ(make_rocm(env, test.store), root);
}

TEST(Rocm, RejectsDevelThatLeavesItsFolder) {
  const std::pair<testing::TarMember, const char*> cases[] = {
      {{.name = "rocm_sdk/__init__.py", .data = "x"}, "outside its folder"},
      {{.name = "_rocm_sdk_devel/l", .type = '2', .target = "/etc"}, "points outside its folder"},
      {{.name = "_rocm_sdk_devel/l", .type = '2', .target = "../../x"}, "points outside its folder"},
      {{.name = "_rocm_sdk_devel/llvm/x", .type = '2', .target = "y"}, "below a link"},
      {{.name = "_rocm_sdk_devel/../../x", .data = "x"}, ".."},
  };
  for (const auto& [member, words] : cases) {
    TestEnv test;
    const Environment env = environment_with(test, good_tar().add(member));
    const std::string error = error_of([&] { make_rocm(env, test.store); });
    EXPECT_NE(error.find(words), std::string::npos) << member.name << ": " << error;
  }
  TestEnv test;
  EXPECT_NE(error_of([&] { make_rocm(test.scratch(), test.store); }).find("rocm-sdk-devel"), std::string::npos);
}

}  // namespace wheelsmith::env
