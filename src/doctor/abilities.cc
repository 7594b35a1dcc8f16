#include "doctor/abilities.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

using recipe::Variant;

std::string gpus_of(const Facts& facts, gpu::Vendor vendor) {
  std::vector<std::string> names;
  for (const toolchain::Gpu& gpu : facts.gpus) {
    if (gpu.arch.vendor == vendor && std::ranges::find(names, gpu.name) == names.end()) names.push_back(gpu.name);
  }
  if (!names.empty()) return "; GPU: " + join(names, ", ");
  return fmt::format("; no {} GPU on this machine: choose one with --gpu NAME",
                     vendor == gpu::Vendor::nvidia ? "NVIDIA" : "AMD");
}

// Checks what every variant needs; `how` is "" if nothing is missing.
Ability missing_basics(const std::vector<toolchain::Python>& pythons, const Facts& facts) {
  const auto usable = [](const toolchain::Python& python) {
    return python.has_headers && python.has_venv && python.has_pip;
  };
  if (std::ranges::none_of(pythons, usable))
    return {.how = "no Python with headers, venv and pip",
            .fix = "apt-get install python3 python3-dev python3-venv python3-pip"};
  if (!facts.compiler) return {.how = "no C++ compiler", .fix = "apt-get install build-essential"};
  if (!facts.offline && !facts.programs.contains("curl")) return {.how = "no curl", .fix = "apt-get install curl"};
  for (const BuildFolder& place : facts.places) {
    if (!place.problem.empty())
      return {.how = place.problem,
              .fix = place.name == "temporary" ? "TMPDIR=DIR" : fmt::format("--{} DIR", place.name)};
  }
  return {};
}

Ability cuda_ability(const Facts& facts) {
  Ability ability{.variant = Variant::cuda};
  if (!facts.cuda_problem.empty())
    return {.variant = Variant::cuda, .how = facts.cuda_problem, .fix = "correct --cuda (CUDA_HOME), or omit it"};
  if (!facts.cuda && facts.offline)
    return {.variant = Variant::cuda, .how = "no CUDA toolkit, and --offline", .fix = "--cuda DIR"};
  if (facts.cuda) {
    ability.how = fmt::format("nvcc {} in {}", facts.cuda->full_version, facts.cuda->root.string());
    const std::string problem = toolchain::host_compiler_problem(*facts.cuda, *facts.compiler);
    if (!problem.empty() && !facts.allow_unsupported_compiler)
      return {.variant = Variant::cuda,
              .how = problem,
              .fix = fmt::format("--cc gcc-{0} --cxx g++-{0}", std::min(facts.cuda->max_gcc, 12))};
  } else {
    ability.how = "with a CUDA toolkit from the package index (13.0 and later)";
  }
  ability.can = true;
  ability.how += gpus_of(facts, gpu::Vendor::nvidia);
  return ability;
}

Ability rocm_ability(const Facts& facts) {
  if (facts.rocm)
    return {.variant = Variant::rocm,
            .can = true,
            .how = fmt::format("ROCm {} in {}{}", facts.rocm->version, facts.rocm->root.string(),
                               gpus_of(facts, gpu::Vendor::amd))};
  if (!facts.rocm_problem.empty()) return {.variant = Variant::rocm, .how = facts.rocm_problem, .fix = "--rocm DIR"};
  if (!facts.rocm_index.empty() && !facts.offline)
    return {.variant = Variant::rocm,
            .can = true,
            .how = "with ROCm wheels from --rocm-index" + gpus_of(facts, gpu::Vendor::amd)};
  return {.variant = Variant::rocm, .how = "no ROCm on this machine", .fix = "--rocm DIR, or --rocm-index URL"};
}

}  // namespace

std::vector<Ability> find_abilities(const std::vector<toolchain::Python>& pythons, const Facts& facts) {
  const Ability missing = missing_basics(pythons, facts);
  std::vector<Ability> abilities;
  for (const Variant variant : {Variant::cpu, Variant::cuda, Variant::rocm}) {
    Ability ability = missing;
    if (missing.how.empty() && variant == Variant::cpu)
      ability = {.can = true, .how = fmt::format("{} {}", facts.compiler->family, facts.compiler->version)};
    if (missing.how.empty() && variant == Variant::cuda) ability = cuda_ability(facts);
    if (missing.how.empty() && variant == Variant::rocm) ability = rocm_ability(facts);
    ability.variant = variant;
    abilities.push_back(std::move(ability));
  }
  return abilities;
}

}  // namespace wheelsmith::doctor
