#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "toolchain/ask.h"
#include "toolchain/cuda/cuda_limits.h"
#include "toolchain/cuda/cuda_texts.h"
#include "toolchain/library/library.h"
#include "toolchain/test_machine.h"

namespace wheelsmith::toolchain {
namespace {

namespace fs = std::filesystem;

// The structure of the real header: bounds of other compilers surround those of GCC and Clang.
constexpr std::string_view k_host_config = R"(
#if defined(__CUDACC__)
#if defined(__CUDACC_RTC__)
#define _CRTIMP
#else /* __CUDACC_RTC__ */
#if defined(__GRCO_CLANG_COMPILER__)
#if (__GRCO_CLANG_COMPILER__ == 1) && ((__clang_major__ < 16) || (__clang_major__ > 19))
#error -- unsupported Grace clang version!
#endif
#endif
#if defined(__GNUC__)
#if __GNUC__ > 16

#error -- unsupported GNU version!

#endif /* __GNUC__ > 16 */
#if defined(__clang__) && !defined(__HORIZON__)
#if (__clang_major__ >= 23) || (__clang_major__ < 3)
#error -- unsupported clang version!
#endif
#endif
#if defined(__HORIZON__)
#if (__clang_major__ >= 22)
#error -- unsupported HOS clang version!
#endif
#endif
#endif
#if __GNUC__ > 3
#define OLD 1
#endif
#endif /* __CUDACC_RTC__ */
#endif /* __CUDACC__ */
)";

TEST(CudaTexts, HostConfig) {
  const HostLimits limits = read_host_config(k_host_config);
  EXPECT_EQ(limits.gcc, 16);
  EXPECT_EQ(limits.clang, 22);
  EXPECT_EQ(read_host_config("").gcc, 0);
  EXPECT_EQ(read_host_config("#endif\n#endif\n#if __GNUC__ > 99999999999999999999\n#error").gcc, 0);
  EXPECT_EQ(read_host_config("#if __GNUC__ > 12\n#error").gcc, 12);
}

TEST(CudaTexts, Versions) {
  const NvccVersion found = read_nvcc_version("nvcc: NVIDIA\nCuda compilation tools, release 13.0, V13.0.88\nBuild x");
  EXPECT_EQ(found.version, "13.0");
  EXPECT_EQ(found.full_version, "13.0.88");
  EXPECT_EQ(read_nvcc_version("rubbish").version, "");
  EXPECT_EQ(header_number("#define NCCL_MAJORITY 3\n#define NCCL_MAJOR x\n", "NCCL_MAJOR"), "");
  EXPECT_EQ(dryrun_variable("#$ A=1\n#$ TOP=/usr/cuda/bin/..\n", "TOP"), "/usr/cuda/bin/..");
}

TEST(CudaTexts, Archs) {
  const std::vector<std::string> expected = {"75", "90", "90a", "100", "100a", "100f"};
  EXPECT_EQ(
      read_nvcc_archs("'compute_75','sm_100f','sm_100a','sm_75', 'sm_90a' sm_90 sm_100 sm_NN lto_90 xsm_80 'sm_90'"),
      expected);
  EXPECT_TRUE(read_nvcc_archs("sm_ sm_a sm_123456 sm_9_0").empty());
}

TEST(CudaLimits, Table) {
  const std::vector<std::string> hopper = nvcc_archs("12.4");
  EXPECT_NE(std::find(hopper.begin(), hopper.end(), "90a"), hopper.end());
  EXPECT_EQ(std::find(hopper.begin(), hopper.end(), "100"), hopper.end());
  EXPECT_EQ(nvcc_archs("12.7"), nvcc_archs("12.6"));
  EXPECT_EQ(nvcc_archs("13.0.88"), nvcc_archs("13.0"));
  EXPECT_EQ(nvcc_archs("13"), nvcc_archs("13.4"));
  EXPECT_EQ(nvcc_archs("11.8").front(), "35");
  for (const char* version : {"11.0", "14.0", "", "x", "."}) EXPECT_TRUE(nvcc_archs(version).empty()) << version;
  EXPECT_EQ(cuda_row("13.4")->max_gcc, 16);
}

TEST(CudaLimits, HostCompiler) {
  Cuda cuda;
  cuda.version = "12.6";
  cuda.max_gcc = 13;
  cuda.max_clang = 18;
  Compiler compiler;
  compiler.cxx = "/usr/bin/g++";
  compiler.family = "gcc";
  compiler.version = "13.3.0";
  EXPECT_EQ(host_compiler_problem(cuda, compiler), "");
  compiler.version = "14.1.0";
  EXPECT_EQ(host_compiler_problem(cuda, compiler),
            "nvcc 12.6 supports GCC up to version 13, but /usr/bin/g++ is 14.1.0");
  compiler.family = "clang";
  EXPECT_EQ(host_compiler_problem(cuda, compiler), "");
  compiler.standard_library = "libc++";
  EXPECT_NE(host_compiler_problem(cuda, compiler).find("only libstdc++"), std::string::npos);
}

TEST(CudaLimits, UnknownArchs) {
  Cuda cuda;
  cuda.archs = nvcc_archs("13.0");
  EXPECT_TRUE(unknown_archs(cuda, gpu::ArchList::parse("8.0;9.0a+PTX;10.0f")).empty());
  EXPECT_EQ(unknown_archs(cuda, gpu::ArchList::parse("7.0;9.0")), std::vector<std::string>{"7.0"});
  EXPECT_EQ(unknown_archs(cuda, gpu::ArchList::parse("gfx942")), std::vector<std::string>{"gfx942"});
}

void add_toolkit(TestMachine& machine, const std::string& root) {
  const std::string target = root + "/targets/" + k_own_machine + "-linux";
  machine.script(root + "/bin/nvcc",
                 "case $1 in --version) echo 'release 12.8, V12.8.93';; --help) echo \"'sm_80','sm_90a'\";; esac");
  machine.script(root + "/bin/ptxas", "");
  machine.script(root + "/nvvm/bin/cicc", "");
  machine.file(target + "/include/crt/host_config.h", k_host_config);
  machine.file(target + "/include/cuda_runtime.h");
  machine.file(target + "/lib/libcudart.so.12");
  machine.file(target + "/include/cublas_v2.h");
  machine.file(target + "/include/nvml.h");
  machine.file(target + "/lib/stubs/libnvidia-ml.so");
}

TEST(FindCuda, ReadsAToolkit) {
  TestMachine machine;
  machine.only_own_path();
  EXPECT_FALSE(find_cuda(machine.where));
  add_toolkit(machine, "usr/local/cuda");
  const std::optional<Cuda> cuda = find_cuda(machine.where);
  ASSERT_TRUE(cuda);
  EXPECT_EQ(cuda->full_version, "12.8.93");
  EXPECT_EQ(cuda->archs, (std::vector<std::string>{"80", "90a"}));
  EXPECT_EQ(cuda->max_gcc, 16);
  EXPECT_TRUE(cuda->has_cudart);
  EXPECT_FALSE(cuda->has_cublas);  // headers alone cannot be linked
  EXPECT_TRUE(cuda->has_nvml);
  EXPECT_FALSE(cuda->has_cccl);
  const std::size_t starts = machine.starts();
  EXPECT_EQ(find_cuda(machine.where)->digests, cuda->digests);
  EXPECT_EQ(machine.starts(), starts);
  machine.script("usr/local/cuda/nvvm/bin/cicc", "# another one");
  EXPECT_NE(find_cuda(machine.where)->digests, cuda->digests);
}

TEST(FindCuda, FollowsAWrapperAndHonoursSettings) {
  TestMachine machine;
  machine.only_own_path();
  add_toolkit(machine, "far/cuda");
  const std::string root = (machine.root() / "far/cuda").string();
  machine.script("bin/nvcc", "[ \"$1\" = --dryrun ] && { echo '#$ TOP=" + root + "/bin/..' >&2; exit 1; }; exec " +
                                 root + "/bin/nvcc \"$@\"");
  EXPECT_EQ(find_cuda(machine.where)->root, fs::canonical(root));
  machine.where.environment["CUDA_HOME"] = (machine.root() / "nothing").string();
  EXPECT_TRUE(find_cuda(machine.where));
  machine.where.cuda = root;
  EXPECT_EQ(find_cuda(machine.where)->origin, Origin::setting);
  machine.where.cuda = machine.root() / "nothing";
  EXPECT_THROW(find_cuda(machine.where), Error);
}

TEST(FindCuda, RejectsInvalidOutput) {
  TestMachine machine;
  machine.only_own_path();
  for (const char* body : {"exit 1", "echo rubbish", "kill -9 $$"}) {
    machine.script("bin/nvcc", body);
    machine.script("usr/local/cuda/bin/nvcc", body);
    EXPECT_FALSE(find_cuda(machine.where)) << body;
  }
}

TEST(RealCuda, ThisMachine) {
  Host where;
  where.environment = sys::current_environment();
  const std::optional<Cuda> cuda = find_cuda(where);
  if (!cuda) GTEST_SKIP() << "no CUDA toolkit here";
  EXPECT_TRUE(fs::exists(cuda->root / "bin/nvcc"));
  EXPECT_TRUE(cuda->full_version.starts_with(cuda->version + "."));
  const std::vector<std::string> table = nvcc_archs(cuda->version);
  if (!table.empty()) {
    EXPECT_EQ(cuda->archs, table);
  }
  EXPECT_GT(cuda->max_gcc, 0);
  EXPECT_GE(cuda->digests.size(), 4U);
  if (const std::optional<CudaRow> row = cuda_row(cuda->version)) {
    EXPECT_EQ(cuda->max_gcc, row->max_gcc);
    EXPECT_EQ(cuda->max_clang, row->max_clang);
  }
}

}  // namespace
}  // namespace wheelsmith::toolchain
