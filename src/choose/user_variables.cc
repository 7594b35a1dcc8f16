#include "choose/user_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"

namespace wheelsmith::choose {

namespace {

struct Meaning {
  std::string_view variable, option;
};

constexpr std::array k_cuda_lists = {"TORCH_CUDA_ARCH_LIST", "FLASH_ATTN_CUDA_ARCHS", "CUDAARCHS"};
constexpr std::array k_rocm_lists = {"PYTORCH_ROCM_ARCH", "GPU_ARCHS", "AMDGPU_TARGETS", "GPU_TARGETS"};

constexpr std::array<Meaning, 9> k_meanings = {{{"CUDA_HOME", "--cuda"},
                                                {"CUDA_PATH", "--cuda"},
                                                {"ROCM_PATH", "--rocm"},
                                                {"ROCM_HOME", "--rocm"},
                                                {"HIP_PATH", "--rocm"},
                                                {"CC", "--cc"},
                                                {"CXX", "--cxx"},
                                                {"MAX_JOBS", "--jobs"},
                                                {"CMAKE_BUILD_PARALLEL_LEVEL", "--jobs"}}};

template <std::size_t Count>
bool is_one_of(const std::array<const char*, Count>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// torch also accepts spaces between architectures; FLASH_ATTN_CUDA_ARCHS and CUDAARCHS use "80;90".
gpu::ArchList read_list(std::string text) {
  std::replace(text.begin(), text.end(), ' ', ';');
  return gpu::ArchList::parse(text);
}

}  // namespace

std::string_view option_of_variable(std::string_view variable) {
  if (is_one_of(k_cuda_lists, variable) || is_one_of(k_rocm_lists, variable)) return "--arch";
  for (const Meaning& meaning : k_meanings) {
    if (meaning.variable == variable) return meaning.option;
  }
  return "";
}

void refuse_options_in(const std::map<std::string, std::string>& variables) {
  for (const auto& [name, value] : variables) {
    const std::string_view option = option_of_variable(name);
    if (option.empty() || option == "--arch") continue;
    throw RequestError(fmt::format("--env {}={}: the build would get two values; use {} instead", printable(name),
                                   printable(value), option));
  }
}

std::optional<ArchVariable> find_arch_variable(const std::map<std::string, std::string>& variables,
                                               recipe::Variant variant, std::string& problem) {
  const auto find = [&](const auto& names) -> std::optional<ArchVariable> {
    for (const char* name : names) {
      const auto found = variables.find(name);
      if (found == variables.end() || trim(found->second).empty()) continue;
      try {
        return ArchVariable{name, read_list(std::string(trim(found->second)))};
      } catch (const Error& error) {  // reported by the caller
        problem = fmt::format("{}={}: {}", name, printable(found->second), error.what());
        return std::nullopt;
      }
    }
    return std::nullopt;
  };
  if (variant == recipe::Variant::cuda) return find(k_cuda_lists);
  if (variant == recipe::Variant::rocm) return find(k_rocm_lists);
  return std::nullopt;
}

std::vector<std::string> arch_variables() {
  std::vector<std::string> names(k_cuda_lists.begin(), k_cuda_lists.end());
  names.insert(names.end(), k_rocm_lists.begin(), k_rocm_lists.end());
  return names;
}

std::vector<std::string> exported_notes(const sys::Environment& exported) {
  std::vector<std::string> notes;
  for (const char* name : {"BUILD_VERSION", "PYTORCH_BUILD_VERSION", "FORCE_CUDA", "USE_CUDA", "USE_ROCM", "BUILD_TYPE",
                           "CFLAGS", "CXXFLAGS", "LDFLAGS", "NVCC_FLAGS", "TORCH_NVCC_FLAGS", "CMAKE_ARGS"}) {
    const auto found = exported.find(name);
    if (found != exported.end() && !found->second.empty())
      notes.push_back(
          fmt::format("{} is set in the environment and ignored; --env {}=… passes it to the build", name, name));
  }
  return notes;
}

}  // namespace wheelsmith::choose
