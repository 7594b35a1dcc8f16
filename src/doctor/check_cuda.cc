// CUDA: the toolkit that a build would use, and whether it fits. Extensions of torch must be compiled by the nvcc of
// the CUDA version that torch was built with: torch rejects another major version, and another minor version compiles
// but fails if headers and libraries differ. If the machine's toolkit does not fit, one is installed from wheels of the
// package index, which has nvcc wheels from CUDA 13.0 on.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/case.h"
#include "toolchain/cuda/cuda_limits.h"

namespace wheelsmith::doctor {

namespace {

// The versions with known limits (toolchain's cuda.tsv); 12.7 was never released.
constexpr std::string_view k_versions[] = {"11.8", "12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6",
                                           "12.8", "12.9", "13.0", "13.1", "13.2", "13.3", "13.4"};

std::string install_cuda(const std::string& version) {
  std::string dashed = version;
  for (char& letter : dashed) letter = letter == '.' ? '-' : letter;
  return fmt::format("apt-get install cuda-toolkit-{} (NVIDIA's repository), then --cuda /usr/local/cuda-{}", dashed,
                     version);
}

// The newest version that the recipe supports, for fixes.
std::string cuda_version_for(std::string_view specifiers) {
  std::string newest = "13.0";
  for (const std::string_view version : k_versions) {
    if (satisfies(version, specifiers).value_or(false)) newest = version;
  }
  return newest;
}

bool registry_can(const recipe::Rules& rules, const std::string& version) {
  if (!version.empty()) return major_number(version) >= k_first_registry_cuda;
  return std::any_of(std::begin(k_versions), std::end(k_versions), [&](std::string_view candidate) {
    return major_number(candidate) >= k_first_registry_cuda &&
           satisfies(candidate, rules.requires_versions.cuda).value_or(true);
  });
}

std::string torch_cuda(const Facts& facts) { return facts.torch ? major_minor(facts.torch->cuda) : std::string(); }

std::string of_machine(const Facts& facts) {
  if (!facts.cuda) return facts.cuda_problem.empty() ? "no nvcc" : facts.cuda_problem;
  return fmt::format("nvcc {} in {}", facts.cuda->full_version.empty() ? facts.cuda->version : facts.cuda->full_version,
                     facts.cuda->root.string());
}

std::string of_registry(const std::string& version) {
  return fmt::format("a CUDA {}toolkit is installed from nvidia-* wheels of the package index",
                     version.empty() ? "" : version + " ");
}

// The CUDA version nearest to the chosen one whose nvcc supports the whole list; "" if there is none.
std::string cuda_that_knows(const gpu::ArchList& archs, const std::string& chosen) {
  std::string older;
  for (const std::string_view version : k_versions) {
    toolchain::Cuda cuda;
    cuda.archs = toolchain::nvcc_archs(version);
    if (!toolchain::unknown_archs(cuda, archs).empty()) continue;
    if (!is_older(version, chosen)) return std::string(version);
    older = version;
  }
  return older;
}

}  // namespace

bool compiles_device_code(const recipe::Rules& rules, recipe::Variant variant) {
  if (variant == recipe::Variant::cpu) return false;
  const recipe::Requires& limits = rules.requires_versions;
  if (variant == recipe::Variant::rocm && !limits.needs_rocm) return false;
  const std::string& toolkit = variant == recipe::Variant::cuda ? limits.cuda : limits.rocm;
  return !toolkit.empty() || !rules.archs.variable.empty() || !rules.archs.fallback.empty();
}

Toolkit choose_toolkit(const recipe::Rules& rules, recipe::Variant variant, const Facts& facts) {
  Toolkit toolkit;
  if (variant != recipe::Variant::cuda) return toolkit;
  const std::string wanted = torch_cuda(facts);
  const bool fits =
      facts.cuda && (wanted.empty() ? satisfies(facts.cuda->version, rules.requires_versions.cuda).value_or(true)
                                    : facts.cuda->version == wanted);
  if (facts.registry_cuda.empty() && facts.cuda && (fits || facts.cuda_named)) {
    toolkit.from = Toolkit::From::machine;
    toolkit.cuda = *facts.cuda;
    return toolkit;
  }
  toolkit.from = Toolkit::From::registry;
  toolkit.cuda.version = facts.registry_cuda.empty() ? wanted : major_minor(facts.registry_cuda);
  if (const std::optional<toolchain::CudaRow> row = toolchain::cuda_row(toolkit.cuda.version)) {
    toolkit.cuda.archs = row->archs;
    toolkit.cuda.max_gcc = row->max_gcc;
    toolkit.cuda.max_clang = row->max_clang;
  }
  return toolkit;
}

std::optional<Check> check_cuda(const Case& c) {
  if (c.variant != recipe::Variant::cuda) return std::nullopt;
  const std::string& version = c.toolkit.cuda.version;
  const std::string& specifiers = c.rules.requires_versions.cuda;
  Check check{.id = "cuda", .found = of_machine(c.facts), .wanted = "nvcc " + (version.empty() ? specifiers : version)};
  if (check.wanted == "nvcc ") check.wanted = "any version of nvcc";
  if (c.toolkit.from == Toolkit::From::machine) return check;
  check.why = of_registry(version);
  // If a plan has chosen it, it is available.
  if (!c.facts.registry_cuda.empty()) return check;
  const std::string advice = install_cuda(version.empty() ? cuda_version_for(specifiers) : version);
  if (!c.facts.cuda_problem.empty()) {
    check.why = "the given toolkit does not exist, and wheelsmith never uses another one instead";
    check.fix = "correct --cuda (CUDA_HOME), or omit it";
  } else if (!registry_can(c.rules, version)) {
    check.why = fmt::format("the package index has nvcc wheels only from CUDA {}.0 on", k_first_registry_cuda);
    check.fix = advice;
  } else if (c.facts.offline) {
    check.why += ", but not with --offline";
    check.fix = "run once without --offline, or " + advice;
  } else {
    return check;
  }
  check.state = State::bad;
  return check;
}

std::optional<Check> check_cuda_version(const Case& c) {
  const std::string& specifiers = c.rules.requires_versions.cuda;
  const std::string& version = c.toolkit.cuda.version;
  if (c.toolkit.from == Toolkit::From::none || specifiers.empty() || version.empty()) return std::nullopt;
  Check check{.id = "cuda-version", .found = "CUDA " + version, .wanted = "CUDA " + specifiers};
  if (satisfies(version, specifiers).value_or(true)) return check;
  check.state = State::bad;
  check.why = c.recipe.name + " supports only these versions of CUDA";
  const std::string other = cuda_version_for(specifiers);
  check.fix = torch_cuda(c.facts).empty() ? install_cuda(other)
                                          : fmt::format("build against a torch built with CUDA {}: --torch", other);
  return check;
}

std::optional<Check> check_cuda_torch(const Case& c) {
  if (c.variant != recipe::Variant::cuda || !c.rules.requires_versions.uses_torch) return std::nullopt;
  const std::string wanted = torch_cuda(c.facts);
  Check check{.id = "cuda-torch", .found = of_machine(c.facts)};
  if (wanted.empty()) {
    if (c.facts.torch) return std::nullopt;  // not a CUDA build: reported by the check torch-variant
    check.state = State::unknown;
    check.wanted = "the CUDA that torch was built with";
    check.why = "the plan chooses torch, and the toolkit must match it";
    return check;
  }
  check.wanted = fmt::format("CUDA {}, which torch {} was built with", wanted, c.facts.torch->version);
  if (c.toolkit.from == Toolkit::From::registry) {
    check.found = of_registry(c.toolkit.cuda.version);
    if (major_minor(c.toolkit.cuda.version) == wanted)
      return check;  // the check "cuda" reports whether it is available
  } else if (c.toolkit.cuda.version == wanted) {
    return check;
  }
  const bool same_major = major_number(c.toolkit.cuda.version) == major_number(wanted);
  check.state = same_major ? State::unknown : State::bad;
  check.why = same_major ? "torch accepts another minor version, but the build then mixes the headers of both"
                         : "torch rejects an nvcc of another major version";
  check.fix = fmt::format("omit --cuda, or give a toolkit of CUDA {}", wanted);
  return check;
}

std::optional<Check> check_cuda_archs(const Case& c) {
  if (c.toolkit.from == Toolkit::From::none || c.archs.requests.empty()) return std::nullopt;
  const toolchain::Cuda& cuda = c.toolkit.cuda;
  Check check{.id = "cuda-archs", .wanted = c.archs.to_string()};
  if (cuda.version.empty() || cuda.archs.empty()) {
    check.state = State::unknown;
    check.found = "unknown";
    check.why = cuda.version.empty() ? "the nvcc version depends on torch"
                                     : fmt::format("the architectures of nvcc {} are unknown", cuda.version);
    return check;
  }
  check.found = fmt::format("nvcc {} supports {}", cuda.version, join(cuda.archs, " "));
  const std::vector<std::string> unknown = toolchain::unknown_archs(cuda, c.archs);
  if (unknown.empty()) return check;
  check.state = State::bad;
  check.why = fmt::format("nvcc {} does not support {}", cuda.version, join(unknown, ", "));
  const std::string other = cuda_that_knows(c.archs, cuda.version);
  check.fix = "remove it from --arch";
  if (other.empty()) return check;
  check.fix += torch_cuda(c.facts).empty()
                   ? ", or " + install_cuda(other)
                   : fmt::format(", or build against a torch built with CUDA {}: --torch", other);
  return check;
}

}  // namespace wheelsmith::doctor
