#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "doctor/doctor.h"

namespace wheelsmith::doctor {

// A good machine, which each test breaks in one way. For tests only.
inline toolchain::Python good_python() {
  toolchain::Python python;
  python.executable = "/usr/bin/python3";
  python.version = "3.11.2";
  python.abi = "cp311";
  python.platform = "linux_x86_64";
  python.base_prefix = "/usr";
  python.include = "/usr/include/python3.11";
  python.has_headers = python.has_venv = python.has_pip = python.has_ensurepip = true;
  python.pip_version = "25.0";
  return python;
}

inline toolchain::Program program(const std::string& name, const std::string& version) {
  toolchain::Program program;
  program.name = name;
  program.path = "/usr/bin/" + name;
  program.version = version;
  program.origin = toolchain::Origin::system;
  return program;
}

inline toolchain::Compiler good_compiler() {
  toolchain::Compiler compiler;
  compiler.cc = "/usr/bin/gcc";
  compiler.cxx = "/usr/bin/g++";
  compiler.family = "gcc";
  compiler.version = "12.2.0";
  compiler.newest_standard = 23;
  compiler.glibcxx = "3.4.30";
  compiler.standard_library = "libstdc++";
  compiler.glibc = "2.36";
  return compiler;
}

inline toolchain::Cuda good_cuda() {
  toolchain::Cuda cuda;
  cuda.root = "/usr/local/cuda";
  cuda.version = "13.0";
  cuda.full_version = "13.0.88";
  cuda.archs = toolchain::nvcc_archs("13.0");
  cuda.max_gcc = 15;
  cuda.max_clang = 20;
  cuda.has_cudart = cuda.has_cublas = cuda.has_cusparse = cuda.has_nvml = cuda.has_cccl = true;
  return cuda;
}

inline toolchain::Rocm good_rocm() {
  toolchain::Rocm rocm;
  rocm.root = "/opt/rocm";
  rocm.version = "7.1.0";
  rocm.device_libraries = "/opt/rocm/amdgcn/bitcode";
  rocm.clang = "/opt/rocm/lib/llvm/bin";
  rocm.cmake = "/opt/rocm/lib/cmake";
  rocm.origin = toolchain::Origin::folder;
  return rocm;
}

inline toolchain::Torch torch_of(const std::string& version, const std::string& cuda, const std::string& hip = "") {
  toolchain::Torch torch;
  torch.version = version;
  torch.cuda = cuda;
  torch.hip = hip;
  return torch;
}

inline toolchain::Library library(const std::string& name, const std::string& version) {
  toolchain::Library library;
  library.name = name;
  library.version = version;
  library.header = "/usr/include/" + name + ".h";
  library.file = "/usr/lib/lib" + name + ".so";
  return library;
}

inline Facts good_facts() {
  constexpr std::uint64_t k_gigabyte = 1'000'000'000;
  Facts facts;
  facts.compiler = good_compiler();
  facts.cuda = good_cuda();
  facts.rocm = good_rocm();
  facts.torch = torch_of("2.10.0", "13.0");
  for (const char* name : {"cmake", "ninja", "git", "curl"}) facts.programs.emplace(name, program(name, "3.25.1"));
  facts.gpus.push_back({"H200", gpu::nvidia_arch(90), 140 * k_gigabyte, "580"});
  facts.memory = {64 * k_gigabyte, 60 * k_gigabyte};
  for (const char* name : {"store", "temporary", "out"})
    facts.places.push_back({name, std::string("/") + name, 500 * k_gigabyte, ""});
  facts.isolates_network = true;
  const std::pair<const char*, const char*> libraries[] = {
      {"cudnn", "9.1.0"}, {"nccl", "2.27.7"}, {"nvml", "13"}, {"tbb", "2021.8"}};
  for (const auto& [name, version] : libraries) facts.libraries.emplace(name, library(name, version));
  return facts;
}

// A recipe, a machine and a request, all modifiable.
struct Patient {
  std::string recipe =
      "name = \"demo\"\n[source]\nsdist = \"demo\"\n[variant.cpu]\n[variant.cuda.archs]\ndefault = \"9.0\"\n"
      "[variant.rocm.archs]\nspelling = \"gfx\"\ndefault = \"gfx942\"\n";
  recipe::Variant variant = recipe::Variant::cpu;
  std::string target, archs;
  toolchain::Python python = good_python();
  Facts facts = good_facts();

  [[nodiscard]] std::vector<Check> all() const {
    return examine(recipe::parse_recipe(recipe, "demo.toml"), variant, target,
                   archs.empty() ? gpu::ArchList{} : gpu::ArchList::parse(archs), python, facts);
  }
  // A check that was not made has the id "".
  [[nodiscard]] Check find(std::string_view id) const {
    for (Check& check : all()) {
      if (check.id == id) return check;
    }
    return {};
  }
  // "good", "bad", "unknown", or "none" for a check that was not made.
  [[nodiscard]] std::string state(std::string_view id) const {
    const Check check = find(id);
    return check.id.empty() ? "none" : std::string(to_string(check.state));
  }
};

inline Patient cuda_patient(const std::string& more = "") {
  Patient patient;
  patient.recipe += more;
  patient.variant = recipe::Variant::cuda;
  patient.archs = "9.0";
  return patient;
}

}  // namespace wheelsmith::doctor
