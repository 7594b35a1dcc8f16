#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/doctor.h"

// Shared by the checks. Only src/doctor includes this.

namespace wheelsmith::doctor {

// The CUDA toolkit that a build would use: the machine's if it fits, else one installed from wheels of the package
// index. The limits of its nvcc are known in both cases.
struct Toolkit {
  enum class From : std::uint8_t { none, machine, registry } from = From::none;
  toolchain::Cuda cuda;  // from the index: only version (empty if any fits), archs and limits
};

struct Case {
  const recipe::Recipe& recipe;
  const recipe::Rules& rules;
  recipe::Variant variant;
  const gpu::ArchList& archs;
  const toolchain::Python& python;
  const Facts& facts;
  Toolkit toolkit;
};

Toolkit choose_toolkit(const recipe::Rules& rules, recipe::Variant variant, const Facts& facts);
// Whether torch is not installed yet, so that its requirements (nvidia-nccl-cu13, …) are installed with it.
bool torch_comes_with_wheels(const recipe::Rules& rules, const Facts& facts);
// The first CUDA version with an nvcc wheel.
inline constexpr int k_first_registry_cuda = 13;
// Whether the recipe compiles device code: it has toolkit versions or a list of architectures.
bool compiles_device_code(const recipe::Rules& rules, recipe::Variant variant);

// One check each; nullopt if it does not apply.
using Rule = std::optional<Check> (*)(const Case&);
std::optional<Check> check_python(const Case& c);
std::optional<Check> check_python_headers(const Case& c);
std::optional<Check> check_python_venv(const Case& c);
std::optional<Check> check_python_pip(const Case& c);
std::optional<Check> check_compiler(const Case& c);
std::optional<Check> check_compiler_runtime(const Case& c);
std::optional<Check> check_cxx_standard(const Case& c);
std::optional<Check> check_compiler_version(const Case& c);
std::optional<Check> check_host_compiler(const Case& c);
std::optional<Check> check_cuda(const Case& c);
std::optional<Check> check_cuda_version(const Case& c);
std::optional<Check> check_cuda_torch(const Case& c);
std::optional<Check> check_cuda_archs(const Case& c);
std::optional<Check> check_rocm(const Case& c);
std::optional<Check> check_rocm_version(const Case& c);
std::optional<Check> check_rocm_device_libraries(const Case& c);
std::optional<Check> check_rocm_cmake(const Case& c);
std::optional<Check> check_rocm_family(const Case& c);
std::optional<Check> check_rocm_torch(const Case& c);
std::optional<Check> check_archs(const Case& c);
std::optional<Check> check_refusals(const Case& c);
std::optional<Check> check_gpu(const Case& c);
std::optional<Check> check_torch(const Case& c);
std::optional<Check> check_torch_variant(const Case& c);
std::optional<Check> check_memory(const Case& c);
std::optional<Check> check_platform_glibc(const Case& c);
std::optional<Check> check_platform_libstdcxx(const Case& c);
std::optional<Check> check_isolation(const Case& c);
std::optional<Check> check_sandbox(const Case& c);
std::optional<Check> sandbox_check(const Facts& facts);  // nothing if one is possible
// One check for each entry in the recipe.
std::vector<Check> check_libraries(const Case& c);
std::vector<Check> check_programs(const Case& c);
std::vector<Check> check_places(const Case& c);

// Whether the version matches the specifiers; nullopt if it is not a version.
std::optional<bool> satisfies(std::string_view version, std::string_view specifiers);
bool is_older(std::string_view version, std::string_view than);
// "13.0.88" -> "13.0"; "13" -> "13".
std::string major_minor(std::string_view version);
int major_number(std::string_view version);  // 0 if it is not a version
// The requirement for a project in a list of requirements, if it is there: it is installed into the build environment.
std::optional<std::string> requirement_for(const std::vector<std::string>& requirements, std::string_view name);
// "apt-get install git"; a sentence for programs without a known package.
std::string install_program(std::string_view name);

}  // namespace wheelsmith::doctor
