#include "run/machine_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::run {

namespace {

// Memory of one device compile when nothing better is known: flash-attention's need 4.7 to 6.4 GB.
constexpr std::uint64_t k_memory_of_compile = 5'000'000'000;

// The folder of the CUDA toolkit that a build would find. The toolchain module knows more, but hashes the whole
// toolkit, which a fix does not need.
std::filesystem::path cuda_folder(const sys::Environment& environment) {
  std::vector<std::filesystem::path> candidates;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto named = environment.find(name);
    if (named != environment.end()) candidates.emplace_back(named->second);
  }
  std::error_code ignored;
  candidates.push_back(std::filesystem::canonical(sys::find_program("nvcc"), ignored).parent_path().parent_path());
  candidates.emplace_back("/usr/local/cuda");
  for (const std::filesystem::path& folder : candidates) {
    if (sys::is_folder(folder / "nvvm")) return folder;  // an nvcc wrapper script may be anywhere
  }
  return {};
}

// "13.0" of "#define CUDA_VERSION 13000" in cuda.h.
std::string cuda_version(const std::filesystem::path& folder) {
  constexpr std::string_view k_define = "#define CUDA_VERSION ";
  try {
    const Blob header = sys::map_file(folder / "include" / "cuda.h");
    const std::string_view text = header.bytes.text();
    const std::size_t at = text.find(k_define);
    if (at == text.npos) return {};
    const std::string_view rest = text.substr(at + k_define.size());
    const auto number = to_number(trim(rest.substr(0, rest.find('\n'))));
    return number ? fmt::format("{}.{}", *number / 1000, *number % 1000 / 10) : "";
  } catch (const Error&) {  // no headers; a fix without a version still helps
    return {};
  }
}

diagnose::Values machine_values() {
  diagnose::Values values;
  const sys::Memory memory = sys::memory();
  if (memory.total != 0) {
    const std::uint64_t fit = memory.total / 10 * 9 / k_memory_of_compile;
    values["machine.jobs"] = fmt::format("{}", std::clamp<std::uint64_t>(fit, 1, usable_threads()));
    values["machine.memory"] = human_bytes(memory.total);
  }
  if (const std::filesystem::path cuda = cuda_folder(sys::current_environment()); !cuda.empty()) {
    values["machine.cuda"] = cuda.string();
    values["machine.nvcc"] = cuda_version(cuda);
  }
  values["machine.python"] = sys::find_program("python3").string();
  return values;
}

}  // namespace

diagnose::Machine machine_for_remedies(diagnose::Audience audience) {
  return {machine_values, toolchain::nvcc_archs, audience};
}

}  // namespace wheelsmith::run
