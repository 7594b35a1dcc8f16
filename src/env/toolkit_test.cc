#include "env/test_env.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

void touch(const fs::path& file) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << file.filename().string();
}

// The unpacked wheels of one minor version, in miniature.
Environment environment_with_nvcc(TestEnv& test) {
  const Environment env = test.scratch();
  const fs::path cuda = env.site_packages / "nvidia/cu13";
  for (const char* name : {"bin/nvcc", "bin/nvcc.profile", "bin/crt/link.stub", "nvvm/bin/cicc", "include/cuda.h",
                           "include/cccl/thrust/sort.h", "include/cccl/cuda/std/array", "lib/libcudart.so.13",
                           "lib/libcudart_static.a", "cuda_cccl/lib/cmake/cccl/cccl-config.cmake"}) {
    touch(cuda / name);
  }
  touch(env.site_packages / "nvidia/nccl/include/nccl.h");
  touch(env.site_packages / "nvidia/nccl/include/cuda.h");
  touch(env.site_packages / "nvidia/nccl/lib/libnccl.so.2");
  return env;
}

}  // namespace

TEST(Toolkit, PinsTheCompilerToOneMinorVersion) {
  EXPECT_EQ(toolkit_requirements("13.2"),
            (std::vector<std::string>{"nvidia-cuda-nvcc==13.2.*", "nvidia-cuda-crt==13.2.*", "nvidia-nvvm==13.2.*",
                                      "nvidia-cuda-runtime==13.2.*", "nvidia-cuda-cccl>=13.0,<13.3"}));
  EXPECT_EQ(toolkit_requirements("13.0.88")[0], "nvidia-cuda-nvcc==13.0.*");
  EXPECT_NE(error_of([] { toolkit_requirements("12.8"); }).find("no nvcc"), std::string::npos);
  for (const char* bad : {"", "13", "x", "13.x"}) EXPECT_NE(error_of([&] { toolkit_requirements(bad); }), "") << bad;
}

TEST(Toolkit, HasTheFilesNvccAndLinkersNeed) {
  TestEnv test;
  const Environment env = environment_with_nvcc(test);
  touch(test.temp.path() / "site/nvidia/cu13/include/cublas_v2.h");
  touch(test.temp.path() / "site/nvidia/cu13/lib/libcublas.so.13");
  const std::vector<sys::TreeFile> before = sys::list_tree(env.root);
  const fs::path root = make_toolkit(env, test.store, {test.temp.path() / "site"});
  for (const char* name : {"bin/nvcc", "bin/crt/link.stub", "nvvm/bin/cicc"}) {
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(root / name))) << name;
  }
  for (const char* name :
       {"include/cuda.h", "include/thrust/sort.h", "include/cuda/std/array", "include/cccl/thrust/sort.h",
        "include/nccl.h", "include/cublas_v2.h", "lib64/libcudart.so", "lib/libcudart.so.13",
        "lib64/libcudart_static.a", "lib64/libnccl.so", "lib64/libcublas.so", "lib64/cmake/cccl/cccl-config.cmake"}) {
    EXPECT_TRUE(fs::is_regular_file(root / name)) << name;
  }
  EXPECT_EQ(fs::canonical(root / "include/cuda.h"), fs::canonical(env.site_packages / "nvidia/cu13/include/cuda.h"));
  EXPECT_EQ(sys::list_tree(env.root).size(), before.size());
  EXPECT_EQ(make_toolkit(env, test.store, {test.temp.path() / "site"}), root);
  EXPECT_NE(make_toolkit(env, test.store), root);
}

TEST(Toolkit, ReportsAnEnvironmentWithoutNvcc) {
  TestEnv test;
  const Environment env = test.scratch();
  EXPECT_NE(error_of([&] { make_toolkit(env, test.store); }).find("has no nvcc"), std::string::npos);
  touch(env.site_packages / "nvidia/cu13/bin/nvcc");
  EXPECT_NE(error_of([&] { make_toolkit(env, test.store); }).find("nvidia-nvvm"), std::string::npos);
}

}  // namespace wheelsmith::env
