#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "toolchain/ask.h"
#include "toolchain/gpus.h"
#include "toolchain/test_machine.h"
#include "toolchain/torch_files.h"

namespace wheelsmith::toolchain {
namespace {

namespace fs = std::filesystem;

TEST(Versions, FirstAndOrder) {
  EXPECT_EQ(first_version("cmake version 3.25.1\n"), "3.25.1");
  EXPECT_EQ(first_version("curl 7.88.1 (x86_64-pc-linux-gnu)"), "7.88.1");
  EXPECT_EQ(first_version("GNU Make 4.3."), "4.3");
  EXPECT_EQ(first_version("x 12 y"), "");
  EXPECT_EQ(first_version(""), "");
  EXPECT_TRUE(version_less("3.4.9", "3.4.30"));
  EXPECT_FALSE(version_less("2.36", "2.36"));
  EXPECT_TRUE(version_less("", "2"));
}

TEST(Ask, StopsAHangingProgram) {
  TestMachine machine;
  const fs::path program = machine.script("bin/hang", "sleep 100");
  const Reply reply = ask({program.string()}, machine.where, "", std::chrono::seconds(1));
  EXPECT_FALSE(reply.ran);
  EXPECT_NE(reply.problem.find("timeout"), std::string::npos) << reply.problem;
}

// Package code answers: it must not see a password in the user's shell, nor send it anywhere.
TEST(Ask, HidesTheUsersVariablesFromForeignCode) {
  TestMachine machine;
  const fs::path program = machine.script("bin/tell", "env; cat");
  for (const char* name : {"SECRET_TOKEN", "SSH_AUTH_SOCK", "PYTHONPATH", "PIP_INDEX_URL", "XDG_RUNTIME_DIR"})
    machine.where.environment[name] = "/of-the-user";
  machine.where.environment["LD_LIBRARY_PATH"] = "/opt/libraries";
  EXPECT_NE(ask({program.string()}, machine.where).output.find("SECRET_TOKEN"), std::string::npos);

  sys::Command confined;
  machine.where.confine = [&](const sys::Command& command) {
    confined = command;
    return command;
  };
  const Reply reply = ask({program.string()}, machine.where, "input");
  EXPECT_TRUE(reply.good) << reply.problem;
  EXPECT_EQ(reply.output.find("of-the-user"), std::string::npos) << reply.output;
  EXPECT_EQ(reply.output.find(machine.where.environment["HOME"] + "\n"), std::string::npos) << reply.output;
  EXPECT_NE(reply.output.find("LD_LIBRARY_PATH=/opt/libraries"), std::string::npos) << reply.output;
  EXPECT_NE(reply.output.find("PYTHONNOUSERSITE=1"), std::string::npos) << reply.output;
  EXPECT_TRUE(reply.output.ends_with("input")) << reply.output;
  EXPECT_EQ(confined.no_network, sys::can_isolate_network());
}

TEST(Places, LiesIn) {
  EXPECT_TRUE(lies_in("/opt/conda/bin/gcc", "/opt/conda"));
  EXPECT_TRUE(lies_in("/opt/conda/bin/gcc", "/opt/conda/"));
  EXPECT_FALSE(lies_in("/opt/conda2/bin/gcc", "/opt/conda"));
  EXPECT_FALSE(lies_in("/opt/conda/../x", "/opt/conda"));
  EXPECT_FALSE(lies_in("/opt", ""));
}

TEST(FindProgram, ReportsItsOrigin) {
  TestMachine machine;
  machine.only_own_path();
  EXPECT_FALSE(find_program("cmake", machine.where));
  EXPECT_FALSE(find_program("../bin/cmake", machine.where));
  machine.script("bin/cmake", "echo 'cmake version 3.25.1'");
  std::optional<Program> cmake = find_program("cmake", machine.where);
  ASSERT_TRUE(cmake);
  EXPECT_EQ(cmake->version, "3.25.1");
  EXPECT_EQ(cmake->origin, Origin::system);
  EXPECT_EQ(machine.starts(), 1U);
  EXPECT_EQ(find_program("cmake", machine.where)->digest, cmake->digest);
  EXPECT_EQ(machine.starts(), 1U);
  machine.file("venv/pyvenv.cfg");
  machine.script("venv/bin/cmake", "echo 'cmake version 4.0.2'");
  machine.where.environment["PATH"] = (machine.root() / "venv/bin").string() + ":" + (machine.root() / "bin").string();
  EXPECT_EQ(find_program("cmake", machine.where)->origin, Origin::pip);
  machine.script("venv/bin/cmake", "echo \"No module named 'cmake'\" >&2; exit 1");
  EXPECT_EQ(find_program("cmake", machine.where)->version, "3.25.1");
  machine.where.environment["CONDA_PREFIX"] = machine.root().string();
  EXPECT_EQ(find_program("cmake", machine.where)->origin, Origin::conda);
}

TEST(FindRocm, ReadsAFolder) {
  TestMachine machine;
  machine.only_own_path();
  EXPECT_FALSE(find_rocm(machine.where));
  machine.script("opt/rocm/bin/hipcc", "");
  machine.file("opt/rocm/.info/version", "7.1.0-123\n");
  const Digests before = find_rocm(machine.where)->digests;
  EXPECT_TRUE(find_rocm(machine.where)->device_libraries.empty());
  machine.file("opt/rocm/lib/llvm/lib/clang/20/amdgcn/bitcode/ocml.bc", "BC");
  const std::optional<Rocm> rocm = find_rocm(machine.where);
  ASSERT_TRUE(rocm);
  EXPECT_EQ(rocm->version, "7.1.0");
  EXPECT_EQ(rocm->origin, Origin::folder);
  EXPECT_EQ(rocm->device_libraries.filename(), "bitcode");
  EXPECT_NE(rocm->digests, before);
  machine.where.rocm = machine.root() / "nothing";
  EXPECT_THROW(find_rocm(machine.where), Error);
}

TEST(FindRocm, QueriesRocmSdkOnce) {
  TestMachine machine;
  machine.only_own_path();
  const std::string root = (machine.root() / "sdk/_rocm_sdk_devel").string();
  machine.script("sdk/_rocm_sdk_devel/bin/hipcc", "");
  machine.file("sdk/_rocm_sdk_devel/share/hip/version", "HIP_VERSION_MAJOR=7\nHIP_VERSION_MINOR=2\n");
  machine.script("bin/rocm-sdk", "[ $1 != path ] || echo '" + root + "'");
  const std::optional<Rocm> rocm = find_rocm(machine.where);
  ASSERT_TRUE(rocm);
  EXPECT_EQ(rocm->origin, Origin::rocm_sdk);
  EXPECT_EQ(rocm->version, "7.2");
  EXPECT_EQ(machine.starts(), 3U);  // path, version, targets
  EXPECT_TRUE(find_rocm(machine.where));
  EXPECT_EQ(machine.starts(), 3U);
}

// An environment with the wheels has a bin/hipcc that only starts the real one: its folder is not a ROCm.
TEST(FindRocm, QueriesAnEnvironmentInsteadOfUsingItAsRocm) {
  TestMachine machine;
  machine.only_own_path();
  const std::string root = (machine.root() / "venv/site/_rocm_sdk_devel").string();
  machine.script("venv/site/_rocm_sdk_devel/bin/hipcc", "");
  machine.script("venv/site/_rocm_sdk_devel/lib/llvm/bin/clang++", "");
  machine.file("venv/site/_rocm_sdk_devel/lib/cmake/hip/hip-config.cmake", "");
  machine.script("venv/bin/hipcc", "");
  machine.script("venv/bin/rocm-sdk", "exit 1");
  machine.script("venv/bin/python", "case $3 in path) echo '" + root +
                                        "';; version) echo 7.10.0a20251124;; targets) echo 'gfx1151;gfx942';; esac");
  for (const bool by_setting : {true, false}) {
    machine.where.rocm = by_setting ? machine.root() / "venv" : fs::path();
    if (!by_setting) machine.where.environment["ROCM_PATH"] = (machine.root() / "venv").string();
    const std::optional<Rocm> rocm = find_rocm(machine.where);
    ASSERT_TRUE(rocm);
    EXPECT_EQ(rocm->root, root);
    EXPECT_EQ(rocm->version, "7.10.0a20251124");
    EXPECT_EQ(rocm->targets, (std::vector<std::string>{"gfx1151", "gfx942"}));
    EXPECT_EQ(rocm->clang, root + "/lib/llvm/bin");
    EXPECT_EQ(rocm->cmake, root + "/lib/cmake");
  }
  // Nor when its hipcc is the first in PATH and the module cannot answer.
  machine.where.environment.erase("ROCM_PATH");
  machine.where.environment["PATH"] = (machine.root() / "venv/bin").string();
  EXPECT_FALSE(find_rocm(machine.where));
}

TEST(FindRocm, QueriesTheChosenInterpretersEnvironment) {
  TestMachine machine;
  machine.only_own_path();
  const std::string root = (machine.root() / "site/_rocm_sdk_devel").string();
  machine.script("site/_rocm_sdk_devel/bin/hipcc", "");
  Python python;
  python.executable = machine.script("python", "[ $3 != path ] || echo '" + root + "'");
  python.sites = {machine.root() / "site"};
  EXPECT_FALSE(find_rocm(machine.where, &python));
  EXPECT_EQ(machine.starts(), 0U);  // no module, so nothing is started
  machine.file("site/rocm_sdk/__init__.py", "");
  const std::optional<Rocm> rocm = find_rocm(machine.where, &python);
  ASSERT_TRUE(rocm);
  EXPECT_EQ(rocm->root, root);
  // The module's error message is reported.
  python.executable = machine.script("broken", "echo 'no devel package' >&2; exit 1");
  std::string problem;
  EXPECT_FALSE(read_rocm_sdk(python, machine.where, &problem));
  EXPECT_NE(problem.find("no devel package"), std::string::npos) << problem;
}

TEST(TorchFiles, Version) {
  const auto found = read_torch_version(
      "__all__ = ['cuda']\n__version__ = '2.13.0+cu130'\ncuda: Optional[str] = '13.0'\n"
      "hip: Optional[str] = None\ncuda_x = '1'\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->version, "2.13.0+cu130");
  EXPECT_EQ(found->cuda, "13.0");
  EXPECT_EQ(found->hip, "");
  EXPECT_FALSE(read_torch_version("cuda = '13.0'"));
  EXPECT_FALSE(read_torch_version("__version__ = 'unfinished"));
  EXPECT_EQ(read_torch_abi("set(X \"-D_GLIBCXX_USE_CXX11_ABI=0\")"), false);
  EXPECT_FALSE(read_torch_abi("-D_GLIBCXX_USE_CXX11_ABI="));
}

// A script that acts as an interpreter, with a site folder that contains a torch.
fs::path add_torch(TestMachine& machine, const std::string& import_body) {
  const std::string path = (machine.root() / "bin/python3").string();
  const std::string site = (machine.root() / "site-packages").string();
  machine.file("site-packages/torch/version.py", "__version__ = '2.9.0+cu128'\ncuda = '12.8'\nhip = None\n");
  machine.file("site-packages/torch/lib/libc10.so", "no ELF");
  machine.file("site-packages/torch/share/cmake/Torch/TorchConfig.cmake", "-D_GLIBCXX_USE_CXX11_ABI=0");
  machine.file("site-packages/torch/include/c10/cuda/impl/cuda_cmake_macros.h");
  return machine.script("bin/python3", "case \"$*\" in *'import torch'*) " + import_body +
                                           ";; *) echo '{\"executable\":\"" + path +
                                           R"(","version":"3.11.1","implementation":"cpython","sites":[")" + site +
                                           "\"],\"files\":[]}';; esac");
}

TEST(FindTorch, ByFilesAndByImport) {
  TestMachine machine;
  const fs::path python =
      add_torch(machine, R"(echo '{"version":"2.9.0+cu128","cuda":"12.8","hip":"","cxx11_abi":true}')");
  std::optional<Torch> torch = find_torch(python, false, machine.where);
  ASSERT_TRUE(torch);
  EXPECT_EQ(torch->version, "2.9.0+cu128");
  EXPECT_EQ(torch->variant(), "cuda");
  EXPECT_FALSE(torch->cxx11_abi);
  EXPECT_TRUE(torch->has_cuda_macros);
  EXPECT_EQ(machine.starts(), 1U);
  EXPECT_TRUE(find_torch(python, true, machine.where)->cxx11_abi);  // the import counts
  EXPECT_EQ(machine.starts(), 2U);
  EXPECT_EQ(find_torch(python, true, machine.where)->digest, torch->digest);
  EXPECT_EQ(machine.starts(), 2U);
  machine.file("site-packages/torch/lib/libc10.so", "another");
  EXPECT_NE(find_torch(python, false, machine.where)->digest, torch->digest);
  fs::remove(machine.root() / "site-packages/torch/version.py");
  EXPECT_FALSE(find_torch(python, false, machine.where));

  // A torch installed from its own checkout.
  machine.file("checkout/torch/version.py", "__version__ = '2.10.0'\n");
  machine.file("site-packages/torch.pth", "import nothing\n" + (machine.root() / "checkout").string() + "\n");
  EXPECT_EQ(find_torch(python, false, machine.where)->version, "2.10.0");
}

TEST(FindTorch, ReportsWhyTheImportFails) {
  TestMachine machine;
  const fs::path python =
      add_torch(machine, "printf 'Traceback:\\n  File x\\nImportError: libcudart.so.12: cannot open\\n' >&2; exit 1");
  EXPECT_EQ(find_torch(python, true, machine.where)->problem, "ImportError: libcudart.so.12: cannot open");
}

TEST(Gpus, NvidiaSmi) {
  const std::vector<Gpu> gpus = read_nvidia_smi(
      "NVIDIA H200, 9.0, 143771, 580.65.06\nNVIDIA GB10, 12.1, [N/A], 580.95\nodd, name, 8.6, 24576, "
      "1.2\nrubbish\n,,,\n"
      "x, 900.0, 1, 1\nNVIDIA A100-SXM4-80GB, [N/A], 81920, 470.1\n");
  ASSERT_EQ(gpus.size(), 4U);
  EXPECT_EQ(gpus[0].name, "NVIDIA H200");
  EXPECT_EQ(gpus[0].arch, gpu::nvidia_arch(90));
  EXPECT_EQ(gpus[0].memory, 143771ull << 20);
  EXPECT_EQ(gpus[0].driver, "580.65.06");
  EXPECT_EQ(gpus[1].memory, 0U);
  EXPECT_EQ(gpus[2].name, "odd, name");
  EXPECT_EQ(gpus[3].arch, gpu::nvidia_arch(80));
}

TEST(Gpus, FallsBackToProc) {
  TestMachine machine;
  machine.only_own_path();
  machine.script("bin/nvidia-smi", "echo 'Failed to initialize NVML' ; exit 9");
  EXPECT_TRUE(find_gpus(machine.where).empty());
  machine.file("proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 1\n");
  machine.file("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX  580.65.06  Sun\n");
  const std::vector<Gpu> gpus = find_gpus(machine.where);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].arch, gpu::nvidia_arch(90));
  EXPECT_EQ(gpus[0].driver, "580.65.06");
  machine.script("bin/nvidia-smi", "echo 'NVIDIA H200, 9.0, 143771, 580.65.06'");
  const std::size_t starts = machine.starts();
  EXPECT_EQ(find_gpus(machine.where)[0].memory, 143771ull << 20);
  EXPECT_EQ(find_gpus(machine.where)[0].memory, 143771ull << 20);
  EXPECT_EQ(machine.starts(), starts + 1);
}

TEST(Gpus, Amd) {
  struct Row {
    std::uint64_t number;
    const char* name;
  };
  for (const Row& row : std::initializer_list<Row>{{90402, "gfx942"},
                                                   {90010, "gfx90a"},
                                                   {110501, "gfx1151"},
                                                   {100300, "gfx1030"},
                                                   {0, ""},
                                                   {~0ull, ""},
                                                   {99999, ""}}) {
    EXPECT_EQ(gfx_name(row.number), row.name);
  }
  TestMachine machine;
  machine.only_own_path();
  const std::string nodes = "sys/class/kfd/kfd/topology/nodes/";
  machine.file(nodes + "0/properties", "cpu_cores_count 16\ngfx_target_version 0\n");
  machine.file(nodes + "1/properties", "simd_count 80\ngfx_target_version 110501\nvendor_id 4098\n");
  machine.file(nodes + "1/mem_banks/0/properties", "heap_type 1\nsize_in_bytes 1073741824\n");
  machine.file(nodes + "2/properties", "gfx_target_version rubbish\n");
  const std::vector<Gpu> gpus = find_gpus(machine.where);
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].arch, gpu::amd_arch("gfx1151"));
  EXPECT_EQ(gpus[0].memory, 1ull << 30);
}

TEST(FileDigest, DependsOnTheBytes) {
  TestMachine machine;
  const fs::path file = machine.file("x", "abc");
  EXPECT_EQ(file_digest(file, machine.where.memo), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_THROW(file_digest(machine.root() / "none", machine.where.memo), Error);
}

}  // namespace
}  // namespace wheelsmith::toolchain
