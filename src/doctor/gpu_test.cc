#include <gtest/gtest.h>

#include "doctor/test_facts.h"

// CUDA, ROCm, torch, architectures and GPUs.

namespace wheelsmith::doctor {
namespace {

using recipe::Variant;

constexpr const char* k_torch = "[requires]\ntorch = \">=2.6\"\n";

TEST(Cuda, NoneOnTheMachineMeansTheIndexsUnlessItHasNone) {
  Patient patient = cuda_patient(k_torch);
  patient.facts.cuda.reset();
  EXPECT_EQ(patient.state("cuda"), "good");
  EXPECT_NE(patient.find("cuda").why.find("CUDA 13.0 toolkit is installed from nvidia-* wheels"), std::string::npos);
  EXPECT_EQ(patient.state("cuda-torch"), "good");

  patient.facts.offline = true;
  EXPECT_EQ(patient.state("cuda"), "bad");
  EXPECT_EQ(patient.find("cuda").fix,
            "run once without --offline, or apt-get install cuda-toolkit-13-0 (NVIDIA's repository), then --cuda "
            "/usr/local/cuda-13.0");
  patient.facts.registry_cuda = "13.0";  // planned: it is in the store
  EXPECT_EQ(patient.state("cuda"), "good");

  patient.facts.registry_cuda.clear();
  patient.facts.offline = false;
  patient.facts.torch = torch_of("2.8.0+cu128", "12.8");
  EXPECT_EQ(patient.state("cuda"), "bad") << "CUDA 12 has no nvcc wheel";
  EXPECT_NE(patient.find("cuda").fix.find("cuda-toolkit-12-8"), std::string::npos);

  patient.facts.cuda_problem = "there is no nvcc in /opt/none";
  EXPECT_EQ(patient.find("cuda").found, "there is no nvcc in /opt/none");
  EXPECT_EQ(patient.state("cuda"), "bad");
}

TEST(Cuda, TheRecipesLimits) {
  Patient patient = cuda_patient("[variant.cuda.requires]\ncuda = \">=11.8,<13\"\n");
  patient.facts.torch.reset();
  EXPECT_EQ(patient.state("cuda"), "bad") << "the machine has 13.0, and the package index only newer ones";
  EXPECT_NE(patient.find("cuda").fix.find("cuda-toolkit-12-9"), std::string::npos);
  patient.facts.cuda->version = "12.8";
  EXPECT_EQ(patient.state("cuda"), "good");
  EXPECT_EQ(patient.state("cuda-version"), "good");
  patient.facts.cuda->version = "13.0";
  patient.facts.cuda_named = true;
  EXPECT_EQ(patient.state("cuda"), "good");
  EXPECT_EQ(patient.state("cuda-version"), "bad");
}

TEST(Cuda, AgainstTorch) {
  struct Row {
    const char* here;
    bool named;
    const char* torch;  // its CUDA
    const char* state;
  };
  const Row rows[] = {
      {"13.0", false, "13.0", "good"}, {"13.2", false, "13.0", "good"},   {"12.8", false, "13.0", "good"},
      {"13.0", true, "13.0", "good"},  {"13.2", true, "13.0", "unknown"}, {"12.8", true, "13.0", "bad"},
  };
  for (const Row& row : rows) {
    Patient patient = cuda_patient(k_torch);
    patient.facts.cuda->version = row.here;
    patient.facts.cuda_named = row.named;
    patient.facts.torch = torch_of("2.10.0", row.torch);
    EXPECT_EQ(patient.state("cuda-torch"), row.state) << row.here << " " << row.torch;
  }
  Patient patient = cuda_patient(k_torch);
  patient.facts.torch.reset();
  EXPECT_EQ(patient.state("cuda-torch"), "unknown");
  EXPECT_EQ(cuda_patient().state("cuda-torch"), "none") << "it does not use torch";
}

TEST(Cuda, HostCompiler) {
  Patient patient = cuda_patient("[requires]\ncxx-standard = 17\n");
  patient.facts.cuda->version = "12.0";
  patient.facts.cuda->max_gcc = 12;
  patient.facts.torch.reset();
  EXPECT_EQ(patient.state("host-compiler"), "good");
  patient.facts.compiler->version = "13.1.0";
  EXPECT_EQ(patient.find("host-compiler").fix,
            "apt-get install gcc-12 g++-12, then --cc gcc-12 --cxx g++-12; or --allow-unsupported-compiler, which "
            "NVIDIA does not support");
  EXPECT_EQ(patient.state("host-compiler"), "bad");
  patient.facts.allow_unsupported_compiler = true;
  EXPECT_EQ(patient.state("host-compiler"), "unknown");
  patient.facts.allow_unsupported_compiler = false;
  patient.facts.cuda->max_gcc = 0;
  EXPECT_EQ(patient.state("host-compiler"), "unknown");
  // The limits of a toolkit that is not installed yet are known, too.
  patient.facts.compiler->version = "16.1.0";
  patient.facts.registry_cuda = "13.2";
  EXPECT_EQ(patient.state("host-compiler"), "bad");
  EXPECT_EQ(patient.find("host-compiler").wanted, "GCC up to 15, for nvcc 13.2");
  patient.facts.compiler->family = "clang";
  patient.facts.compiler->version = "16.0.0";
  EXPECT_EQ(patient.state("host-compiler"), "good");
  patient.facts.compiler->standard_library = "libc++";
  EXPECT_EQ(patient.find("host-compiler").fix, "apt-get install g++, then --cc gcc --cxx g++");
  patient.facts.allow_unsupported_compiler = true;
  EXPECT_EQ(patient.state("host-compiler"), "bad") << "no flag of nvcc makes it support libc++";
  patient.variant = Variant::cpu;
  patient.archs = "";
  EXPECT_EQ(patient.state("host-compiler"), "none");
}

TEST(Archs, AgainstNvccAndThePackage) {
  Patient patient = cuda_patient();
  patient.archs = "7.0;9.0";
  EXPECT_EQ(patient.state("cuda-archs"), "bad");
  EXPECT_NE(patient.find("cuda-archs").why.find("7.0"), std::string::npos);
  EXPECT_NE(patient.find("cuda-archs").fix.find("12.9"), std::string::npos);
  patient.archs = "9.0a";
  EXPECT_EQ(patient.state("cuda-archs"), "good");
  patient.facts.cuda->version = "12.4";
  patient.facts.torch = torch_of("2.6.0", "12.4");
  patient.facts.cuda->archs = toolchain::nvcc_archs("12.4");
  patient.archs = "12.0";
  EXPECT_NE(patient.find("cuda-archs").fix.find("torch built with CUDA 12.8"), std::string::npos);
  patient.facts.cuda.reset();
  patient.facts.torch.reset();
  EXPECT_EQ(patient.state("cuda-archs"), "unknown");

  Patient strict = cuda_patient("legal = [\"8.0\", \"9.0\"]\nptx = false\n");
  strict.recipe =
      "name = \"demo\"\n[source]\nsdist = \"demo\"\n[variant.cuda.archs]\ndefault = \"9.0\"\nlegal = [\"8.0\", "
      "\"9.0\"]\nptx = false\n";
  EXPECT_EQ(strict.state("archs"), "good");
  strict.archs = "8.6";
  EXPECT_EQ(strict.state("archs"), "bad");
  EXPECT_EQ(strict.find("archs").fix, "--arch \"9.0\"");
  strict.archs = "9.0+PTX";
  EXPECT_EQ(strict.state("archs"), "bad");
}

TEST(Archs, AgainstTheMachinesGpus) {
  struct Row {
    const char* archs;
    const char* state;
  };
  for (const Row& row : {Row{"9.0", "good"}, Row{"9.0a", "good"}, Row{"8.0", "unknown"}, Row{"8.0+PTX", "good"},
                         Row{"10.0", "unknown"}}) {
    Patient patient = cuda_patient();
    patient.archs = row.archs;
    EXPECT_EQ(patient.state("gpu"), row.state) << row.archs;
  }
  Patient patient = cuda_patient();
  patient.facts.gpus = {{"MI300X", gpu::amd_arch("gfx942"), 0, ""}};
  EXPECT_EQ(patient.find("gpu").found, "none");
  EXPECT_EQ(patient.state("gpu"), "unknown");
}

TEST(Torch, VersionAndVariant) {
  struct Row {
    Variant variant;
    toolchain::Torch torch;
    const char* version;
    const char* of_variant;
  };
  const Row rows[] = {
      {Variant::cuda, torch_of("2.10.0", "13.0"), "good", "good"},
      {Variant::cuda, torch_of("2.5.1+cu130", ""), "bad", "good"},
      {Variant::cuda, torch_of("2.13.0+cpu", ""), "good", "bad"},
      {Variant::cuda, torch_of("2.13.0", ""), "good", "unknown"},
      {Variant::cuda, torch_of("2.13.0", "", "7.1"), "good", "bad"},
      {Variant::cuda, torch_of("rubbish", "13.0"), "unknown", "good"},
      {Variant::rocm, torch_of("2.13.0", "", "7.1"), "good", "good"},
      {Variant::rocm, torch_of("2.13.0+rocm7.1", ""), "good", "good"},
      {Variant::rocm, torch_of("2.13.0", "13.0"), "good", "bad"},
      {Variant::cpu, torch_of("2.13.0", "13.0"), "good", "good"},
  };
  for (const Row& row : rows) {
    Patient patient;
    patient.recipe += k_torch;
    patient.variant = row.variant;
    patient.facts.torch = row.torch;
    EXPECT_EQ(patient.state("torch"), row.version) << row.torch.version;
    EXPECT_EQ(patient.state("torch-variant"), row.of_variant) << row.torch.version;
  }
  // If nothing is compiled, the variant of torch does not matter.
  Patient triton;
  triton.recipe += std::string(k_torch) + "[check]\nno-members = [\"*.so\"]\n";
  triton.variant = Variant::rocm;
  triton.facts.torch = torch_of("2.13.0+cpu", "");
  EXPECT_EQ(triton.state("torch-variant"), "good");

  Patient patient = cuda_patient(k_torch);
  patient.facts.torch->folder = "/site/torch";
  EXPECT_EQ(patient.state("torch-variant"), "bad") << "its headers have no CUDA macros";
  patient.facts.torch->has_cuda_macros = true;
  EXPECT_EQ(patient.state("torch-variant"), "good");
  patient.facts.torch->problem = "libcudart.so.13 is missing";
  EXPECT_EQ(patient.state("torch"), "bad");
  patient.facts.torch.reset();
  EXPECT_EQ(patient.state("torch"), "unknown");
  patient.facts.torch_problem = "no torch in /venv";
  EXPECT_EQ(patient.state("torch"), "bad");
}

TEST(Libraries, PresenceVersionAndHalves) {
  Patient patient = cuda_patient(
      "[requires]\nlibraries = [\"cudnn>=8.5\", \"nccl\", \"mpi\", \"tbb\", \"miopen\"]\n"
      "[requires.places]\ncudnn = \"{set.where}\"\n[settings.where]\nhelp = \"x\"\ndefault = \"\"\n");
  EXPECT_EQ(patient.state("cudnn"), "good");
  EXPECT_EQ(patient.find("cudnn").found, "cuDNN 9.1.0 (/usr/include/cudnn.h, /usr/lib/libcudnn.so)");
  EXPECT_EQ(patient.find("cudnn").wanted, "cuDNN >=8.5");
  EXPECT_EQ(patient.state("mpi"), "unknown");
  EXPECT_EQ(patient.state("miopen"), "none");  // belongs to ROCm
  struct Row {
    const char* what;
    void (*change)(toolchain::Library&);
    const char* state;
    const char* words;
  };
  const Row rows[] = {
      {"too old", [](auto& one) { one.version = "7.6.5"; }, "bad", "/usr/include/cudnn.h is cuDNN 7.6.5, but >=8.5"},
      {"no file", [](auto& one) { one.file.clear(); }, "bad", "the library file is missing"},
      {"no header", [](auto& one) { one.header.clear(); }, "bad", "needs its development package"},
      {"none", [](auto& one) { one.header = one.file = ""; }, "bad", "the recipe requires it"},
      {"two versions", [](auto& one) { one.file_version = "8.9.7"; }, "bad", "libcudnn.so is 8.9.7"},
      {"no version", [](auto& one) { one.version.clear(); }, "unknown", "its version is unknown"},
      {"not described", [](auto& one) { one.unknown = true; }, "unknown", "the machine's description does not list it"},
  };
  for (const Row& row : rows) {
    Patient other = patient;
    row.change(other.facts.libraries.at("cudnn"));
    EXPECT_EQ(other.state("cudnn"), row.state) << row.what;
    EXPECT_NE(other.find("cudnn").why.find(row.words), std::string::npos) << other.find("cudnn").why;
    if (std::string_view(row.state) != "bad") continue;
    EXPECT_EQ(other.find("cudnn").fix,
              "apt-get install libcudnn9-dev-cuda-13 (NVIDIA's repository), or give it with --set where=PATH");
  }
  patient.facts.libraries.at("tbb").header.clear();
  patient.facts.package_manager = "dnf";
  EXPECT_EQ(patient.find("tbb").fix, "dnf install tbb-devel");
  patient.variant = Variant::cpu;
  patient.archs = "";
  EXPECT_EQ(patient.state("cudnn"), "none");
  EXPECT_EQ(patient.state("tbb"), "bad");
}

TEST(Libraries, WheelsMayContainThem) {
  Patient patient = cuda_patient("[requires]\ntorch = \">=2\"\nlibraries = [\"nccl\"]\n");
  patient.facts.libraries.at("nccl").unknown = true;
  EXPECT_NE(patient.find("nccl").why.find("the wheels that torch requires"), std::string::npos);
  patient.facts.cuda.reset();
  EXPECT_NE(patient.find("nccl").why.find("a toolkit installed from the package index"), std::string::npos);
}

TEST(Rocm, RootVersionDeviceLibrariesTorch) {
  Patient patient;
  patient.recipe += "[variant.rocm.requires]\nrocm = \">=6.0\"\n";
  patient.variant = Variant::rocm;
  patient.facts.torch = torch_of("2.13.0", "", "7.1.25424");
  EXPECT_EQ(patient.state("rocm-torch"), "good");
  EXPECT_EQ(patient.state("rocm-version"), "good");
  patient.facts.rocm->version = "5.7.1";
  EXPECT_EQ(patient.state("rocm-version"), "bad");
  EXPECT_EQ(patient.state("rocm-torch"), "bad");
  patient.facts.rocm->version = "7.0.2";
  EXPECT_EQ(patient.state("rocm-torch"), "unknown");
  patient.facts.rocm->version = "";
  EXPECT_EQ(patient.state("rocm-version"), "unknown");
  patient.facts.rocm->device_libraries.clear();
  EXPECT_EQ(patient.find("rocm-device-libraries").fix, "apt-get install rocm-device-libs");
  patient.facts.rocm->cmake.clear();
  EXPECT_EQ(patient.state("rocm-cmake"), "unknown");  // setup.py calls hipcc and does not need it
  patient.archs = "gfx942";
  patient.facts.rocm->targets = {"gfx1100"};
  EXPECT_EQ(patient.state("rocm-family"), "unknown");
  patient.facts.rocm.reset();
  EXPECT_EQ(patient.state("rocm"), "bad");
  // Triton compiles its kernels at run time.
  patient.recipe = "name = \"demo\"\n[source]\nsdist = \"demo\"\n[variant.rocm]\n";
  EXPECT_EQ(patient.state("rocm"), "unknown");
  patient.facts.rocm_problem = "there is no bin/hipcc in /opt/none";
  EXPECT_EQ(patient.state("rocm"), "bad");
}

// Each missing part, and the command that installs it.
TEST(Rocm, NoneOnTheMachine) {
  Patient patient;
  patient.variant = Variant::rocm;
  patient.archs = "gfx942";
  patient.facts.rocm.reset();
  patient.facts.package_manager = "dnf";
  for (const char* id : {"rocm", "rocm-device-libraries", "rocm-cmake"}) EXPECT_EQ(patient.state(id), "bad") << id;
  const std::string fix = patient.find("rocm").fix;
  for (const char* words :
       {"wheelsmith rocm install --index-url URL --family gfx942", "dnf install hipify-clang miopen-hip",
        "amdgpu-install --usecase=hiplibsdk,rocm,rocmdevtools --no-dkms"})
    EXPECT_NE(fix.find(words), std::string::npos) << fix;
  EXPECT_EQ(patient.find("rocm-family").found, "family gfx942 or gfx94X-all or gfx94X-dcgpu or dcgpu-all");
  EXPECT_EQ(patient.find("rocm-device-libraries").fix, "dnf install rocm-device-libs");
  // With an index of its wheels, the machine needs none.
  patient.facts.rocm_index = "https://example.invalid/";
  for (const char* id : {"rocm", "rocm-device-libraries", "rocm-cmake"}) EXPECT_EQ(patient.state(id), "unknown") << id;
  patient.facts.registry_rocm = "7.10.0";
  EXPECT_EQ(patient.state("rocm"), "good");
  EXPECT_EQ(patient.state("rocm-device-libraries"), "none");
  // An installation that does not work.
  patient.facts.registry_rocm.clear();
  patient.facts.rocm_index.clear();
  patient.facts.rocm_problem = "python -m rocm_sdk path --root: no devel package";
  EXPECT_EQ(patient.find("rocm").fix, "wheelsmith rocm install --index-url URL --family gfx942");
}

TEST(Programs, NotFromPip) {
  Patient patient;
  patient.recipe += "[build.not-from-pip]\ncmake = \"pip's does not find ROCm\"\ntorch = \"the user's own\"\n";
  patient.facts.programs["cmake"] = {"cmake", "/usr/bin/cmake", "3.25.1", toolchain::Origin::system, ""};
  EXPECT_EQ(patient.state("cmake"), "good");
  EXPECT_EQ(patient.state("torch"), "none");  // not a program
  patient.facts.shadowed["cmake"] = patient.facts.programs["cmake"];
  patient.facts.programs["cmake"] = {"cmake", "/venv/bin/cmake", "4.1.0", toolchain::Origin::pip, ""};
  // A plan uses the shadowed one.
  EXPECT_EQ(patient.find("cmake").found,
            "cmake 3.25.1 (/usr/bin/cmake), and not cmake 4.1.0 (/venv/bin/cmake, installed by pip)");
  EXPECT_EQ(patient.state("cmake"), "good");
  // pip's program is rejected even if its version fits.
  patient.recipe += "[requires]\ncmake = \">=3.26\"\n";
  EXPECT_EQ(patient.state("cmake"), "bad");
  EXPECT_EQ(patient.find("cmake").fix, "install cmake >=3.26 (not with pip) and put it first in PATH");
  patient.facts.shadowed.clear();
  EXPECT_EQ(patient.find("cmake").why, "pip's does not find ROCm");
  EXPECT_EQ(patient.find("cmake").fix, "apt-get install cmake");
  patient.facts.programs.erase("cmake");
  EXPECT_EQ(patient.state("cmake"), "bad");
}

}  // namespace
}  // namespace wheelsmith::doctor
