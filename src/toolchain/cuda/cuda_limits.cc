// The host compilers and architectures that each CUDA version supports. An installed toolkit is queried (cuda.cc); the
// table covers those not installed yet, and those that cannot tell.

#include "toolchain/cuda/cuda_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "toolchain/ask.h"

namespace wheelsmith::toolchain {

namespace data {
extern const std::string_view cuda_tsv;
}

std::optional<CudaRow> cuda_row(std::string_view cuda_version) {
  std::optional<CudaRow> best;
  const std::string_view major = cuda_version.substr(0, cuda_version.find('.'));
  const std::vector<std::string_view> parts = split(cuda_version, '.');
  const std::string wanted = fmt::format("{}.{}", parts[0], parts.size() > 1 ? parts[1] : std::string_view("999"));
  for (const std::string_view line : lines(data::cuda_tsv)) {
    const std::vector<std::string_view> fields = split(line, '\t');
    if (line.starts_with('#') || fields.size() != 4) continue;
    if (fields[0].substr(0, fields[0].find('.')) != major || version_less(wanted, fields[0])) continue;
    CudaRow row;
    row.max_gcc = static_cast<int>(to_number(fields[1]).value_or(0));
    row.max_clang = static_cast<int>(to_number(fields[2]).value_or(0));
    for (const std::string_view arch : split(fields[3], ' ')) row.archs.emplace_back(arch);
    best = std::move(row);
  }
  return best;
}

std::vector<std::string> nvcc_archs(std::string_view cuda_version) {
  const std::optional<CudaRow> row = cuda_row(cuda_version);
  return row ? row->archs : std::vector<std::string>();
}

std::string host_compiler_problem(const Cuda& cuda, const Compiler& compiler) {
  const std::uint64_t major = to_number(split(compiler.version, '.')[0]).value_or(0);
  const bool clang = compiler.family == "clang";
  if (clang && compiler.standard_library == "libc++") {
    return fmt::format("nvcc {} supports only libstdc++ for host code, but {} uses libc++", cuda.version,
                       compiler.cxx.string());
  }
  const int limit = clang ? cuda.max_clang : cuda.max_gcc;
  if (limit <= 0 || major <= static_cast<std::uint64_t>(limit)) return {};
  return fmt::format("nvcc {} supports {} up to version {}, but {} is {}", cuda.version, clang ? "Clang" : "GCC", limit,
                     compiler.cxx.string(), compiler.version);
}

std::vector<std::string> unknown_archs(const Cuda& cuda, const gpu::ArchList& archs) {
  std::vector<std::string> unknown;
  for (const gpu::ArchRequest& request : archs.requests) {
    const std::string word = std::to_string(request.arch.number) + request.arch.suffix;
    const bool known = request.arch.vendor == gpu::Vendor::nvidia &&
                       std::find(cuda.archs.begin(), cuda.archs.end(), word) != cuda.archs.end();
    if (!known) unknown.push_back(gpu::to_string(request));
  }
  return unknown;
}

}  // namespace wheelsmith::toolchain
