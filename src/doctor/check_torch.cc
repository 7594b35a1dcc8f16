// torch: the version that the package supports, and the variant. A silent fallback to the CPU build is common: an index
// without a CUDA build offers the CPU build, and the extension then compiles without its kernels.

#include <fmt/format.h>

#include <algorithm>

#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

std::string described_torch(const toolchain::Torch& torch) {
  return fmt::format("torch {}{}", torch.version, torch.folder.empty() ? "" : " in " + torch.folder.string());
}

// "cpu", "cuda", "rocm", or "" if the version does not tell.
std::string variant_of(const toolchain::Torch& torch) {
  if (!torch.cuda.empty()) return "cuda";
  if (!torch.hip.empty()) return "rocm";
  const std::size_t plus = torch.version.find('+');
  const std::string label = plus == std::string::npos ? "" : torch.version.substr(plus + 1);
  if (label.starts_with("cu")) return "cuda";
  if (label.starts_with("rocm")) return "rocm";
  return torch.folder.empty() && !label.starts_with("cpu") ? "" : "cpu";
}

}  // namespace

std::optional<Check> check_torch(const Case& c) {
  if (!c.rules.requires_versions.uses_torch) return std::nullopt;
  const std::string& specifiers = c.rules.requires_versions.torch;
  Check check{.id = "torch", .wanted = "torch" + (specifiers.empty() ? "" : " " + specifiers)};
  if (!c.facts.torch) {
    check.state = c.facts.torch_problem.empty() ? State::unknown : State::bad;
    check.found = c.facts.torch_problem.empty() ? "none installed" : c.facts.torch_problem;
    check.why = c.facts.torch_problem.empty() ? "it comes from the package index, in a version that the plan chooses"
                                              : "the package is built against it";
    if (!c.facts.torch_problem.empty())
      check.fix = "correct --torch: a version, a channel, a wheel or an environment's folder";
    return check;
  }
  const toolchain::Torch& torch = *c.facts.torch;
  check.found = described_torch(torch);
  if (!torch.problem.empty()) {
    check.state = State::bad;
    check.why = "it cannot be imported: " + torch.problem;
    check.fix = "--torch VERSION uses one from the package index instead";
    return check;
  }
  // A checkout has a version like 2.13.0a0+git; only its order relative to releases matters.
  const std::optional<bool> fits = satisfies(torch.version, specifiers);
  if (fits.value_or(false)) return check;
  check.state = fits ? State::bad : State::unknown;
  check.why = c.recipe.name + " supports only these versions of torch";
  check.fix = fmt::format("--torch \"{}\"", specifiers.empty() ? "VERSION" : specifiers);
  return check;
}

std::optional<Check> check_torch_variant(const Case& c) {
  if (!c.rules.requires_versions.uses_torch || !c.facts.torch) return std::nullopt;
  const toolchain::Torch& torch = *c.facts.torch;
  const std::string found = variant_of(torch), wanted(recipe::to_string(c.variant));
  Check check{.id = "torch-variant",
              .found = fmt::format("{}, {}", described_torch(torch),
                                   found.empty() ? "of a variant that is not known yet" : found),
              .wanted = c.variant == recipe::Variant::cpu ? "any build of torch" : "a torch built for " + wanted};
  // Code for the CPU compiles and runs with every build of torch; and if the wheel contains no library (kernels that
  // Triton compiles later), nothing is compiled against torch.
  const std::vector<std::string>& none = c.rules.checks.no_members;
  if (std::find(none.begin(), none.end(), "*.so") != none.end()) {
    check.wanted = "any build of torch: nothing is compiled";
    return check;
  }
  if (c.variant == recipe::Variant::cpu || (found == wanted && found != "cuda")) return check;
  if (found == wanted) {
    if (torch.folder.empty() || torch.has_cuda_macros) return check;
    check.state = State::bad;
    check.why = "its headers are from a build without CUDA (c10/cuda/impl/cuda_cmake_macros.h is missing)";
    check.fix = "pip install --force-reinstall torch, or --torch VERSION to use one from the package index";
    return check;
  }
  if (found.empty()) {
    check.state = State::unknown;
    check.why = "the variant is known when the wheels of the index are resolved";
    return check;
  }
  check.state = State::bad;
  check.why = "GPU kernels compile and run only with a torch of the same variant";
  check.fix = fmt::format("--torch release/{} uses one from PyTorch's index (torch-index must be set); or --variant {}",
                          c.variant == recipe::Variant::cuda ? "cu130" : "rocm7.1", found);
  return check;
}

}  // namespace wheelsmith::doctor
