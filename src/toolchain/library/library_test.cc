#include "toolchain/library/library.h"

#include <gtest/gtest.h>

#include <memory>

#include "toolchain/description.h"
#include "toolchain/test_machine.h"

namespace wheelsmith::toolchain {
namespace {

namespace fs = std::filesystem;
using State = Library::State;

constexpr std::string_view k_cudnn =
    "#ifndef CUDNN_VERSION_H_\n#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 27\n#define CUDNN_PATCHLEVEL 0\n"
    "#define CUDNN_VERSION (CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)\n";
constexpr std::string_view k_nccl =
    "#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n#define NCCL_PATCH 7\n#define NCCL_SUFFIX \"\"\n";

Library find(const TestMachine& machine, std::string_view name, const LibrarySearch& search = {}) {
  return find_library(*find_library_kind(name), search, machine.where);
}

TEST(LibraryKinds, AreComplete) {
  for (const LibraryKind& kind : library_kinds()) {
    EXPECT_FALSE(kind.title.empty() || kind.headers.empty() || kind.places.empty()) << kind.name;
    EXPECT_EQ(kind.packages.size(), 4U) << kind.name;
    EXPECT_TRUE(kind.variant.empty() || kind.variant == "cuda" || kind.variant == "rocm") << kind.name;
    // A library that is linked by name must have one.
    EXPECT_EQ(kind.link_name().find('*'), std::string::npos) << kind.name;
    EXPECT_TRUE(!kind.is_linked() || !kind.link_name().empty()) << kind.name;
  }
  EXPECT_EQ(find_library_kind("cuDNN"), find_library_kind("cudnn"));
  EXPECT_EQ(find_library_kind("mpi"), nullptr);
}

TEST(HeaderVersion, Macros) {
  const std::vector<std::string> three = {"A_MAJOR", "A_MINOR", "A_PATCH"};
  struct Row {
    const char* text;
    const char* version;
  };
  const Row rows[] = {
      {"#define A_MAJOR 7\n#define A_MINOR 6\n#define A_PATCH 5\n", "7.6.5"},
      {"  #  define A_MAJOR\t2021 // year\n#define A_MINOR 8\n", "2021.8"},
      {"#define A_MAJOR 9\n", ""},
      {"#define A_MAJOR_X 9\n#define A_MINOR 1\n", ""},
      {"#define A_MAJOR x\n#define A_MINOR 1\n", ""},
      {"#define A_MAJOR 99999999999999999999\n#define A_MINOR 1\n", ""},
      {"// #define A_MAJOR 9\n// #define A_MINOR 1\n", ""},
      {"", ""},
  };
  for (const Row& row : rows) EXPECT_EQ(read_header_version(row.text, three), row.version) << row.text;
  EXPECT_EQ(read_header_version("#define NVML_API_VERSION            13\n", {"NVML_API_VERSION"}), "13");
  EXPECT_EQ(read_header_version("#define X 1\n", {}), "");
}

// Layouts of real installers.
TEST(FindLibrary, Layouts) {
  struct Row {
    const char* what;
    const char* name;
    std::vector<std::pair<std::string, std::string_view>> files;
    std::string header, file, version, found_by;
    std::string machine = "x86_64";
  };
  const Row rows[] = {
      {"a tar archive unpacked into the toolkit",
       "cudnn",
       {{"cuda/include/cudnn_version.h", k_cudnn}, {"cuda/lib64/libcudnn.so", ""}},
       "cuda/include/cudnn_version.h",
       "cuda/lib64/libcudnn.so",
       "9.27.0",
       "the CUDA toolkit"},
      {"a toolkit with targets",
       "nccl",
       {{"cuda/targets/x86_64-linux/include/nccl.h", k_nccl}, {"cuda/targets/x86_64-linux/lib/libnccl.so.2", ""}},
       "cuda/targets/x86_64-linux/include/nccl.h",
       "cuda/targets/x86_64-linux/lib/libnccl.so.2",
       "2.27.7",
       "the CUDA toolkit"},
      {"a toolkit for Arm servers, beside the targets of other machines",
       "nccl",
       {{"cuda/targets/x86_64-linux/include/nccl.h", k_nccl},
        {"cuda/targets/x86_64-linux/lib/libnccl.so.2", ""},
        {"cuda/targets/sbsa-linux/include/nccl.h", k_nccl},
        {"cuda/targets/sbsa-linux/lib/libnccl.so.2", ""}},
       "cuda/targets/sbsa-linux/include/nccl.h",
       "cuda/targets/sbsa-linux/lib/libnccl.so.2",
       "2.27.7",
       "the CUDA toolkit",
       "aarch64"},
      {"a toolkit of JetPack",
       "nvml",
       {{"cuda/targets/aarch64-linux/include/nvml.h", "#define NVML_API_VERSION 12\n"},
        {"cuda/targets/aarch64-linux/lib/stubs/libnvidia-ml.so", ""}},
       "cuda/targets/aarch64-linux/include/nvml.h",
       "cuda/targets/aarch64-linux/lib/stubs/libnvidia-ml.so",
       "12",
       "the CUDA toolkit",
       "aarch64"},
      {"Debian packages for Arm",
       "cudnn",
       {{"usr/include/aarch64-linux-gnu/cudnn_version_v9.h", k_cudnn},
        {"usr/include/aarch64-linux-gnu/cudnn_v9.h", ""},
        {"usr/lib/aarch64-linux-gnu/libcudnn.so.9.27.0", ""}},
       "usr/include/aarch64-linux-gnu/cudnn_version_v9.h",
       "usr/lib/aarch64-linux-gnu/libcudnn.so.9.27.0",
       "9.27.0",
       "the system",
       "aarch64"},
      {"Debian packages without alternatives",
       "cudnn",
       {{"usr/include/x86_64-linux-gnu/cudnn_version_v9.h", k_cudnn},
        {"usr/include/x86_64-linux-gnu/cudnn_v9.h", ""},
        {"usr/lib/x86_64-linux-gnu/libcudnn.so.9.27.0", ""}},
       "usr/include/x86_64-linux-gnu/cudnn_version_v9.h",
       "usr/lib/x86_64-linux-gnu/libcudnn.so.9.27.0",
       "9.27.0",
       "the system"},
      {"cuDNN 7, whose version is in cudnn.h",
       "cudnn",
       {{"usr/local/cudnn/include/cudnn.h", "#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5"},
        {"usr/local/cudnn/lib64/libcudnn.so.7", ""}},
       "usr/local/cudnn/include/cudnn.h",
       "usr/local/cudnn/lib64/libcudnn.so.7",
       "7.6.5",
       "the system"},
      {"a wheel in site-packages",
       "nccl",
       {{"site/nvidia/nccl/include/nccl.h", k_nccl}, {"site/nvidia/nccl/lib/libnccl.so.2", ""}},
       "site/nvidia/nccl/include/nccl.h",
       "site/nvidia/nccl/lib/libnccl.so.2",
       "2.27.7",
       "nvidia-nccl-cu*"},
      {"NVML: the header of a wheel, the library of the driver",
       "nvml",
       {{"site/nvidia/cu13/include/nvml.h", "#define NVML_API_VERSION 13\n"},
        {"usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", ""}},
       "site/nvidia/cu13/include/nvml.h",
       "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
       "13",
       "nvidia-nvml-dev"},
      {"a toolkit's stub",
       "nvml",
       {{"cuda/include/nvml.h", "#define NVML_API_VERSION 12\n"}, {"cuda/lib64/stubs/libnvidia-ml.so", ""}},
       "cuda/include/nvml.h",
       "cuda/lib64/stubs/libnvidia-ml.so",
       "12",
       "the CUDA toolkit"},
      {"MIOpen in ROCm",
       "miopen",
       {{"rocm/include/miopen/version.h",
         "#define MIOPEN_VERSION_MAJOR 3\n#define MIOPEN_VERSION_MINOR 5\n#define MIOPEN_VERSION_PATCH 1\n"},
        {"rocm/lib/libMIOpen.so", ""}},
       "rocm/include/miopen/version.h",
       "rocm/lib/libMIOpen.so",
       "3.5.1",
       "ROCm"},
      {"RCCL in ROCm",
       "rccl",
       {{"rocm/include/rccl/rccl.h", k_nccl}, {"rocm/lib/librccl.so.1", ""}},
       "rocm/include/rccl/rccl.h",
       "rocm/lib/librccl.so.1",
       "2.27.7",
       "ROCm"},
      {"TBB of oneAPI: tbb/version.h only includes the other",
       "tbb",
       {{"usr/include/oneapi/tbb/version.h", "#define TBB_VERSION_MAJOR 2021\n#define TBB_VERSION_MINOR 8\n"},
        {"usr/include/tbb/version.h", "#include \"../oneapi/tbb/version.h\"\n"},
        {"usr/lib/x86_64-linux-gnu/libtbb.so", ""}},
       "usr/include/oneapi/tbb/version.h",
       "usr/lib/x86_64-linux-gnu/libtbb.so",
       "2021.8",
       "the system"},
      {"TBB of old",
       "tbb",
       {{"usr/include/tbb/tbb_stddef.h", "#define TBB_VERSION_MAJOR 2018\n#define TBB_VERSION_MINOR 0\n"},
        {"usr/lib64/libtbb.so.2", ""}},
       "usr/include/tbb/tbb_stddef.h",
       "usr/lib64/libtbb.so.2",
       "2018.0",
       "the system"},
      {"conda",
       "tbb",
       {{"conda/include/oneapi/tbb/version.h", "#define TBB_VERSION_MAJOR 2022\n#define TBB_VERSION_MINOR 1\n"},
        {"conda/lib/libtbb.so", ""}},
       "conda/include/oneapi/tbb/version.h",
       "conda/lib/libtbb.so",
       "2022.1",
       "CONDA_PREFIX"},
      {"headers alone",
       "cccl",
       {{"cuda/include/cccl/thrust/version.h", ""}},
       "cuda/include/cccl/thrust/version.h",
       "",
       "",
       "the CUDA toolkit"},
  };
  for (const Row& row : rows) {
    TestMachine machine;
    for (const auto& [file, text] : row.files) machine.file(file, text);
    machine.where.environment["CONDA_PREFIX"] = (machine.root() / "conda").string();
    LibrarySearch search;
    search.cuda = machine.root() / "cuda";
    search.rocm = machine.root() / "rocm";
    search.sites = {machine.root() / "site"};
    search.machine = row.machine;
    const Library library = find(machine, row.name, search);
    EXPECT_EQ(library.state(), State::found) << row.what << ": " << library.to_string();
    EXPECT_EQ(library.header, machine.root() / row.header) << row.what;
    EXPECT_EQ(library.file, row.file.empty() ? fs::path() : machine.root() / row.file) << row.what;
    EXPECT_EQ(library.version, row.version) << row.what;
    EXPECT_EQ(library.found_by, row.found_by) << row.what;
  }
}

TEST(FindLibrary, Halves) {
  TestMachine machine;
  EXPECT_EQ(find(machine, "nccl").state(), State::missing);
  machine.file("usr/lib/" + std::string(k_own_machine) + "-linux-gnu/libnccl.so.2");
  EXPECT_EQ(find(machine, "nccl").state(), State::file_only);
  // A half in one place does not hide a complete library in another.
  machine.file("usr/local/nccl/include/nccl.h", k_nccl);
  EXPECT_EQ(find(machine, "nccl").state(), State::header_only);
  machine.file("usr/include/nccl.h", k_nccl);
  const Library library = find(machine, "nccl");
  EXPECT_EQ(library.state(), State::found);
  EXPECT_EQ(library.root, machine.root() / "usr");
}

TEST(FindLibrary, UsesThePathThatTheUserNames) {
  TestMachine machine;
  machine.file("usr/include/nccl.h", k_nccl);
  machine.file("usr/lib/" + std::string(k_own_machine) + "-linux-gnu/libnccl.so.2.27.7");
  machine.link("usr/lib/" + std::string(k_own_machine) + "-linux-gnu/libnccl.so.2", "libnccl.so.2.27.7");
  LibrarySearch search;
  // Another one is never used instead.
  search.named = machine.root() / "opt/nccl";
  EXPECT_EQ(find(machine, "nccl", search).state(), State::missing);
  machine.file("opt/nccl/include/nccl.h", "#define NCCL_MAJOR 2\n#define NCCL_MINOR 20\n");
  EXPECT_EQ(find(machine, "nccl", search).state(), State::header_only);
  machine.file("opt/nccl/lib/libnccl.so.2");
  EXPECT_EQ(find(machine, "nccl", search).version, "2.20");
  // A file: its headers are one or two folders up.
  search.named = machine.root() / ("usr/lib/" + std::string(k_own_machine) + "-linux-gnu/libnccl.so.2");
  const Library library = find(machine, "nccl", search);
  EXPECT_EQ(library.state(), State::found);
  EXPECT_EQ(library.header, machine.root() / "usr/include/nccl.h");
  EXPECT_EQ(library.file_version, "2.27.7");
  // A variable is preferred, but verified.
  machine.where.environment["NCCL_ROOT"] = (machine.root() / "opt/nccl").string();
  EXPECT_EQ(find(machine, "nccl").found_by, "NCCL_ROOT");
  machine.where.environment["NCCL_ROOT"] = (machine.root() / "nowhere").string();
  EXPECT_EQ(find(machine, "nccl").found_by, "the system");
}

TEST(FindLibrary, KnowsWheelsThatAreNotInstalledYet) {
  TestMachine machine;
  LibrarySearch search;
  search.wheels = {{"torch", "2.13.0", "00"}, {"nvidia-cudnn-cu13", "9.13.0.50", "ab"}};
  search.wheel_site = "${env}/lib/python3.12/site-packages";
  const Library library = find(machine, "cudnn", search);
  EXPECT_EQ(library.state(), State::found);
  EXPECT_EQ(library.version, "9.13.0.50");
  EXPECT_EQ(library.header, "${env}/lib/python3.12/site-packages/nvidia/cudnn/include/cudnn_version.h");
  EXPECT_EQ(library.file, "${env}/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
  EXPECT_EQ(library.digest, "nvidia-cudnn-cu13 ab");
  search.wheel_toolkit = "${toolkit}";
  EXPECT_EQ(find(machine, "cudnn", search).file, "${toolkit}/lib64/libcudnn.so");
  EXPECT_EQ(find(machine, "nccl", search).state(), State::missing);
}

TEST(LibraryProblem, RangesAndHalvesOfDifferentVersions) {
  Library library;
  library.name = "cudnn";
  library.header = "/usr/include/cudnn.h";
  library.file = "/usr/lib/libcudnn.so";
  library.version = "7.6.5";
  EXPECT_EQ(library_problem(library, ""), "");
  EXPECT_EQ(library_problem(library, ">=7"), "");
  EXPECT_EQ(library_problem(library, ">=8.5"), "/usr/include/cudnn.h is cuDNN 7.6.5, but >=8.5 is required");
  library.file_version = "8";
  EXPECT_EQ(library_problem(library, ""), "/usr/include/cudnn.h is cuDNN 7.6.5, but /usr/lib/libcudnn.so is 8");
  library.file_version = "7.6";
  EXPECT_EQ(library_problem(library, ""), "");
  library.name = "tbb";  // 2021.8 is libtbb.so.12.8
  library.file_version = "12.8";
  EXPECT_EQ(library_problem(library, ""), "");
  library.version.clear();
  EXPECT_EQ(library_problem(library, ">=2021"), "");  // cannot be determined
}

TEST(LibraryDigest, DoesNotDependOnThePath) {
  TestMachine machine;
  machine.file("usr/include/nccl.h", k_nccl);
  machine.file("usr/lib/libnccl.so", "bytes");
  machine.file("opt/nccl/include/nccl.h", k_nccl);
  machine.file("opt/nccl/lib/libnccl.so", "bytes");
  LibrarySearch search;
  search.named = machine.root() / "opt/nccl";
  const std::string digest = library_digest(find(machine, "nccl"), machine.where.memo);
  EXPECT_EQ(library_digest(find(machine, "nccl", search), machine.where.memo), digest);
  machine.file("opt/nccl/lib/libnccl.so", "other bytes");
  EXPECT_NE(library_digest(find(machine, "nccl", search), machine.where.memo), digest);
}

TEST(InstallLibrary, ByPackageManager) {
  EXPECT_EQ(install_library(*find_library_kind("cudnn"), "apt-get", "13.0"),
            "apt-get install libcudnn9-dev-cuda-13 (NVIDIA's repository)");
  EXPECT_EQ(install_library(*find_library_kind("nvml"), "dnf", "12.8"),
            "dnf install cuda-nvml-devel-12-8 (NVIDIA's repository)");
  EXPECT_EQ(install_library(*find_library_kind("tbb"), "pacman", ""), "pacman -S onetbb");
}

TEST(DescribedLibrary, ListedOrNot) {
  const auto machine = [](std::string_view toml) {
    Host host;
    host.described = std::make_shared<const Description>(read_description(toml, "m.toml"));
    return host;
  };
  const auto state = [&](std::string_view toml, const char* name) {
    return find_library(*find_library_kind(name), {.named = {}, .cuda = "/cuda", .rocm = {}, .sites = {}},
                        machine(toml));
  };
  EXPECT_EQ(state("cores = 1\n", "tbb").state(), State::unknown);
  EXPECT_EQ(state("library = []\n", "tbb").state(), State::missing);
  const std::string_view tbb = "[[library]]\nname = \"tbb\"\nversion = \"2021.8\"\n";
  EXPECT_EQ(state(tbb, "tbb").header, "/usr/include/oneapi/tbb/version.h");
  EXPECT_EQ(state(tbb, "numa").state(), State::missing);
  const std::string_view half = "[[library]]\nname = \"nccl\"\nfile = \"\"\n";
  EXPECT_EQ(state(half, "nccl").state(), State::header_only);
  // The keys of [[cuda]] are shorthand for libraries in the toolkit.
  const std::string_view cuda = "[[cuda]]\nroot = \"/cuda\"\nversion = \"13.0\"\ncudnn = \"9.1\"\nparts = [\"nvml\"]\n";
  EXPECT_EQ(state(cuda, "cudnn").version, "9.1");
  EXPECT_EQ(state(cuda, "cudnn").root, "/cuda");
  EXPECT_EQ(state(cuda, "nccl").state(), State::missing);
  EXPECT_EQ(state(cuda, "nvml").state(), State::found);
  EXPECT_EQ(state(cuda, "cublas").state(), State::missing);
}

}  // namespace
}  // namespace wheelsmith::toolchain
