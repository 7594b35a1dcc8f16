#include "choose/toolkit.h"

#include <fmt/format.h>

#include "pep/requirement.h"
#include "pep/version.h"

namespace wheelsmith::choose {

CudaChoice choose_cuda(const CudaQuestion& question) {
  const auto& here = question.here;
  const bool fits_recipe =
      here && pep::contains(pep::parse_specifiers(question.specifiers), pep::Version::parse(here->version));
  // A compiler-only installation lacks headers that torch's headers include.
  const bool whole = here && (!question.with_torch || (here->has_cublas && here->has_cusparse));
  const bool fits = whole && (question.torch_cuda.empty() ? fits_recipe : here->version == question.torch_cuda);
  if (here && (fits || question.named)) return {.machine = true, .version = here->version, .why = ""};
  const std::string why =
      !here    ? "there is no nvcc on this machine"
      : !whole ? fmt::format("CUDA {} on this machine has no cuBLAS and cuSPARSE headers", here->version)
      : question.torch_cuda.empty() ? fmt::format("the recipe requires CUDA {}", question.specifiers)
                                    : fmt::format("torch was not built with nvcc {} of this machine", here->version);
  return {.machine = false, .version = question.torch_cuda, .why = why};
}

RocmChoice choose_rocm(const RocmQuestion& question) {
  const auto fits = [&] {
    const auto version = pep::Version::try_parse(question.here->version);
    return question.specifiers.empty() || !version ||
           pep::contains(pep::parse_specifiers(question.specifiers), *version);
  };
  if (question.here && (question.named || !question.has_index || fits())) return RocmChoice::machine;
  if (!question.build_needs) return RocmChoice::unneeded;
  return question.has_index && question.may_ask ? RocmChoice::index : RocmChoice::missing;
}

}  // namespace wheelsmith::choose
