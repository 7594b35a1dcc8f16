#include "toolchain/description.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace wheelsmith::toolchain {
namespace {

constexpr const char* k_node = R"(name = "node"
glibc = "2.36"
cores = 64
memory = "256GB"
free-memory = "200GB"

[environment]
ROCM_SDK_TARGET_FAMILY = "gfx1151"

[[python]]
path = "/usr/bin/python3.11"
version = "3.11.2"
pip = "23.0.1"
[python.torch]
version = "2.13.0+cu130"
cuda = "13.0"

[[python]]
path = "/opt/py/bin/python3.13t"
version = "3.13.1"
abi = "cp313t"
headers = false

[[compiler]]
cc = "/usr/bin/gcc"
cxx = "/usr/bin/g++"
family = "gcc"
version = "12.2.0"
[[compiler]]
cc = "/usr/bin/clang-19"
cxx = "/usr/bin/clang++-19"
family = "clang"
version = "19.1.7"

[[cuda]]
root = "/usr/local/cuda-13.0"
version = "13.0"
parts = ["cudart", "cublas"]
[[cuda]]
root = "/usr/local/cuda-12.8"
version = "12.8"

[[rocm]]
root = "/opt/rocm"
version = "7.1.0"
device-libraries = ""

[programs]
git = "2.39.2"
[programs.cmake]
version = "4.0.0"
path = "/venv/bin/cmake"
origin = "pip"
[programs.cmake.behind]
version = "3.25.1"

[[gpu]]
name = "NVIDIA H100"
arch = "9.0"
memory = "80GB"

[[place]]
name = "store"
folder = "/var/store"
free = "1TB"

[wheels]
Torch_Vision = "0.28.0"

[sources."https://example.org/a/*"]
commit = "0123456789012345678901234567890123456789"
[sources.texture]
version = "1.2"
requires = ["setuptools>=64"]
[sources.texture.refs]
"v1.2" = "1111111111111111111111111111111111111111"
[sources.texture.files]
"version.txt" = "1.2\n"
)";

std::string problem_of(const std::string& toml) {
  try {
    (void)read_description(toml, "node.toml");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

Host described(std::string_view toml) {
  Host where;
  where.described = std::make_shared<const Description>(read_description(toml, "node.toml"));
  where.environment = where.described->environment;
  return where;
}

TEST(Description, FillsInImpliedValues) {
  const Description machine = read_description(k_node, "node.toml");
  const Python& python = machine.pythons[0];
  EXPECT_EQ(python.tag, "cp311");
  EXPECT_EQ(python.abi, "cp311");
  EXPECT_EQ(python.platform, "linux_x86_64");
  EXPECT_EQ(python.soabi, ".cpython-311-x86_64-linux-gnu.so");
  EXPECT_EQ(python.include, "/usr/include/python3.11");
  EXPECT_EQ(python.glibc, "2.36");
  EXPECT_TRUE(python.has_headers && python.has_pip);
  EXPECT_EQ(python.digest, "described:cpython 3.11.2");
  EXPECT_EQ(machine.pythons[1].include, "/opt/py/include/python3.13t");
  EXPECT_FALSE(machine.pythons[1].has_headers || machine.pythons[1].has_pip);
  EXPECT_TRUE(machine.cudas[0].has_cublas);
  EXPECT_FALSE(machine.cudas[0].has_cusparse);
  EXPECT_TRUE(machine.cudas[1].has_cusparse);
  EXPECT_EQ(machine.cudas[0].archs, nvcc_archs("13.0"));
  EXPECT_TRUE(machine.rocms[0].device_libraries.empty());
  EXPECT_EQ(machine.rocms[0].hipcc, "/opt/rocm/bin/hipcc");
  EXPECT_EQ(machine.programs.at("git").path, "/usr/bin/git");
  EXPECT_EQ(machine.shadowed.at("cmake").version, "3.25.1");
  EXPECT_EQ(machine.wheels.at("torch-vision"), "0.28.0");
  EXPECT_EQ(machine.memory.total, 256'000'000'000U);
}

TEST(Description, RoundTrips) {
  const std::string text = to_toml(read_description(k_node, "node.toml"));
  EXPECT_EQ(to_toml(read_description(text, "again.toml")), text);
  const Description again = read_description(text, "again.toml");
  EXPECT_EQ(again.pythons[1].abi, "cp313t");
  EXPECT_EQ(again.pythons[1].tag, read_description(k_node, "").pythons[1].tag);
  EXPECT_EQ(again.torches.at("/usr/bin/python3.11").cuda, "13.0");
  EXPECT_TRUE(again.torches.at("/usr/bin/python3.11").has_cuda_macros);
  EXPECT_TRUE(again.rocms[0].device_libraries.empty());
  EXPECT_EQ(again.shadowed.at("cmake").path, "/usr/bin/cmake");
  EXPECT_EQ(again.sources.size(), 2U);
  EXPECT_EQ(again.source({"texture"})->files.at("version.txt"), "1.2\n");
}

TEST(Description, ReportsEveryProblemWithItsLine) {
  EXPECT_EQ(problem_of("platfrom = \"x\"\n"),
            "node.toml:1: unknown key platfrom in the description; did you mean platform?");
  EXPECT_EQ(problem_of("\n[[python]]\nversion = \"3.11.2\"\n"), "node.toml:2: [[python]] needs path");
  EXPECT_EQ(problem_of("[[python]]\npath = \"python3\"\nversion = \"3.11.2\"\n"),
            "node.toml:2: path: \"python3\" is not an absolute path");
  EXPECT_EQ(problem_of("[[python]]\npath = \"/p\"\nversion = \"three\"\npi = \"1\"\n"),
            "node.toml:3: version: \"three\" is not a valid version\n"
            "node.toml:4: unknown key pi in [[python]]; did you mean pip?");
  EXPECT_NE(problem_of("[[gpu]]\narch = \"sm_9x\"\n").find("node.toml:2: arch: "), std::string::npos);
  EXPECT_EQ(problem_of("[[gpu]]\narch = \"8.0;9.0\"\n"), "node.toml:2: arch: a GPU has one architecture");
  EXPECT_NE(problem_of("[[cuda]]\nroot = \"/c\"\nversion = \"13.0\"\nparts = [\"cublass\"]\n").find("mean cublas?"),
            std::string::npos);
  EXPECT_NE(problem_of("[sources.x]\ncommit = \"abc\"\n").find("is not a commit"), std::string::npos);
  EXPECT_NE(problem_of("[[place]]\nname = \"tmp\"\nfolder = \"/t\"\nfree = 1\n").find("store, temporary, out"),
            std::string::npos);
  EXPECT_NE(problem_of("cores = \"many\"\n").find("node.toml:1: cores must be a non-negative number"),
            std::string::npos);
}

TEST(Description, AnswersInsteadOfTheMachine) {
  Host where = described(k_node);
  EXPECT_EQ(find_pythons(where).size(), 2U);
  EXPECT_EQ(find_python("", where).version, "3.11.2");
  EXPECT_EQ(find_python("3.13t", where).executable, "/opt/py/bin/python3.13t");
  EXPECT_EQ(find_python("/opt/py/bin/python3.13t", where).version, "3.13.1");
  EXPECT_THROW((void)find_python("3.12", where), Error);
  EXPECT_FALSE(read_python("/bin/sh", where));
  EXPECT_EQ(find_compiler(where)->family, "gcc");
  EXPECT_EQ(find_cuda(where)->version, "13.0");
  EXPECT_EQ(read_cuda("/usr/local/cuda-12.8", where)->version, "12.8");
  EXPECT_EQ(find_rocm(where)->version, "7.1.0");
  EXPECT_EQ(find_program("cmake", where)->origin, Origin::pip);
  EXPECT_FALSE(find_program("sh", where));
  EXPECT_EQ(find_torch("/usr/bin/python3.11", true, where)->version, "2.13.0+cu130");
  EXPECT_FALSE(find_torch("/opt/py/bin/python3.13t", true, where));
  ASSERT_EQ(find_gpus(where).size(), 1U);
  EXPECT_EQ(find_gpus(where)[0].arch, gpu::nvidia_arch(90));
}

TEST(Description, RequiresThatNamedToolsExist) {
  Host where = described(k_node);
  where.cuda = "/usr/local/cuda-12.8/";
  where.cc = "clang-19";
  EXPECT_EQ(find_cuda(where)->version, "12.8");
  EXPECT_EQ(find_cuda(where)->origin, Origin::setting);
  EXPECT_EQ(find_compiler(where)->cxx, "/usr/bin/clang++-19");
  where.cuda = "/usr/local/cuda";
  where.rocm = "/opt/rocm-6";
  where.cc = "icc";
  EXPECT_THROW((void)find_cuda(where), Error);
  EXPECT_THROW((void)find_rocm(where), Error);
  EXPECT_THROW((void)find_compiler(where), Error);
  const Host bare = described("");
  EXPECT_FALSE(find_compiler(bare));
  EXPECT_FALSE(find_cuda(bare));
  EXPECT_FALSE(find_rocm(bare));
  EXPECT_TRUE(find_gpus(bare).empty());
  EXPECT_THROW((void)find_python("", bare), Error);
}

TEST(Description, MatchesSourcesByNameThenByPattern) {
  const Description machine =
      read_description("[sources.\"*\"]\nversion = \"1\"\n[sources.torch]\nversion = \"2\"\n", "node.toml");
  EXPECT_EQ(machine.source({"https://example.org/pytorch.git", "torch"})->version, "2");
  EXPECT_EQ(machine.source({"numpy"})->version, "1");
  const Description two = read_description(
      "[sources.torch]\nversion = \"2\"\n[sources.\"https://example.org/torch.git\"]\nversion = \"3\"\n", "two.toml");
  EXPECT_EQ(two.source({"https://example.org/torch.git", "torch"})->version, "3");
  EXPECT_EQ(read_description(k_node, "").source({"https://example.org/b/c"}), nullptr);
}

}  // namespace
}  // namespace wheelsmith::toolchain
