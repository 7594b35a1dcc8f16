// ROCm: hipcc, its version, HIP's CMake files, and the device libraries, without which the compile of the first kernel
// fails. If ROCm is missing, each part has its own fix, because distributions and wheels split it differently: a
// machine with only hipcc is common.

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/case.h"
#include "gpu/arch_words.h"

namespace wheelsmith::doctor {

namespace {

bool wanted_here(const Case& c) { return c.variant == recipe::Variant::rocm; }
bool is_missing(const Case& c) { return !c.facts.rocm && c.facts.registry_rocm.empty(); }

State without(const Case& c) { return compiles_device_code(c.rules, c.variant) ? State::bad : State::unknown; }

std::vector<std::string> targets_of(const gpu::ArchList& archs) {
  std::vector<std::string> targets;
  for (const gpu::ArchRequest& request : archs.requests) {
    std::string name = gpu::to_string(request);
    name.erase(std::min(name.find(':'), name.size()));
    if (std::find(targets.begin(), targets.end(), name) == targets.end()) targets.push_back(name);
  }
  return targets;
}

// Families that contain all targets, smallest first.
std::vector<std::string> families_of(const std::vector<std::string>& targets) {
  std::vector<const gpu::NamedTargets*> fitting;
  for (const gpu::NamedTargets& family : gpu::amd_families()) {
    const bool all = std::all_of(targets.begin(), targets.end(), [&](const std::string& target) {
      return std::find(family.members.begin(), family.members.end(), target) != family.members.end();
    });
    if (all && !targets.empty()) fitting.push_back(&family);
  }
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const auto* a, const auto* b) { return a->members.size() < b->members.size(); });
  std::vector<std::string> names;
  if (targets.size() == 1) names.push_back(targets.front());
  for (const gpu::NamedTargets* family : fitting) names.push_back(family->name);
  return names;
}

// If no family contains all targets, list them.
std::string wheels_command(const Case& c) {
  const std::vector<std::string> targets = targets_of(c.archs);
  const std::string place = c.facts.rocm_index.empty() ? "--index-url URL " : "";
  return fmt::format("wheelsmith rocm install {}--family {}", place, targets.empty() ? "FAMILY" : join(targets, ","));
}

std::string system_command(const Case& c, std::string_view packages) {
  const std::string& manager = c.facts.package_manager;
  return manager == "pacman" ? fmt::format("pacman -S {}", packages) : fmt::format("{} install {}", manager, packages);
}

}  // namespace

std::optional<Check> check_rocm(const Case& c) {
  if (!wanted_here(c)) return std::nullopt;
  const std::string& specifiers = c.rules.requires_versions.rocm;
  Check check{.id = "rocm", .wanted = "hipcc of ROCm" + (specifiers.empty() ? "" : " " + specifiers)};
  if (!c.facts.registry_rocm.empty()) {
    check.found = fmt::format("ROCm {} is installed from wheels of an index", c.facts.registry_rocm);
    return check;
  }
  if (c.facts.rocm) {
    check.found = fmt::format("ROCm {} in {} ({})", c.facts.rocm->version.empty() ? "?" : c.facts.rocm->version,
                              c.facts.rocm->root.string(), to_string(c.facts.rocm->origin));
    return check;
  }
  check.found = c.facts.rocm_problem.empty() ? "none" : c.facts.rocm_problem;
  if (c.facts.rocm_problem.find("rocm_sdk") != std::string::npos) {
    check.state = without(c);
    check.why = "the environment has rocm-sdk, but it cannot locate ROCm; usually its devel package is missing";
    check.fix = wheels_command(c);
    return check;
  }
  if (!c.facts.rocm_problem.empty()) {
    check.state = State::bad;
    check.why = "the given folder is not a ROCm installation, and wheelsmith never uses another one instead";
    check.fix = "correct --rocm, or omit it";
    return check;
  }
  if (!c.facts.rocm_index.empty()) {
    check.state = State::unknown;
    check.found = "none; the wheels of --rocm-index are used";
    check.why = "the plan checks whether the index has them";
    return check;
  }
  check.state = without(c);
  if (check.state != State::bad) {
    check.why = "the recipe does not state that it compiles kernels";
    return check;
  }
  check.why = "hipcc compiles its kernels";
  check.fix = fmt::format(
      "{}; or, from AMD's repository, amdgpu-install --usecase=hiplibsdk,rocm,rocmdevtools --no-dkms and {}; or give "
      "the folder of a ROCm with --rocm",
      wheels_command(c), system_command(c, "hipify-clang miopen-hip"));
  return check;
}

std::optional<Check> check_rocm_version(const Case& c) {
  const std::string& specifiers = c.rules.requires_versions.rocm;
  if (!wanted_here(c) || !c.facts.rocm || specifiers.empty() || !c.facts.registry_rocm.empty()) return std::nullopt;
  Check check{.id = "rocm-version",
              .found = "ROCm " + c.facts.rocm->version,
              .wanted = "ROCm " + specifiers,
              .why = c.recipe.name + " supports only these versions of ROCm",
              .fix = "give another ROCm with --rocm"};
  const std::optional<bool> fits = satisfies(c.facts.rocm->version, specifiers);
  check.state = !fits ? State::unknown : *fits ? State::good : State::bad;
  if (!fits) check.found = "a ROCm of unknown version";
  if (check.state != State::bad) check.fix.clear();
  return check;
}

std::optional<Check> check_rocm_device_libraries(const Case& c) {
  if (!wanted_here(c) || !c.facts.registry_rocm.empty()) return std::nullopt;
  Check check{.id = "rocm-device-libraries", .wanted = "amdgcn/bitcode/*.bc"};
  if (c.facts.rocm) check.found = c.facts.rocm->device_libraries.string();
  if (!check.found.empty()) return check;
  check.state = c.facts.rocm_index.empty() || c.facts.rocm ? without(c) : State::unknown;
  check.found = c.facts.rocm ? "none in " + c.facts.rocm->root.string() : "none";
  check.why = "every kernel is linked with them";
  if (check.state != State::unknown) check.fix = system_command(c, "rocm-device-libs");
  return check;
}

// A package without CMake does not need them, so the check is never bad.
std::optional<Check> check_rocm_cmake(const Case& c) {
  if (!wanted_here(c) || !c.facts.registry_rocm.empty()) return std::nullopt;
  Check check{.id = "rocm-cmake", .wanted = "lib/cmake/hip/hip-config.cmake"};
  if (c.facts.rocm) check.found = c.facts.rocm->cmake.string();
  if (!check.found.empty()) return check;
  check.state = is_missing(c) && c.facts.rocm_index.empty() ? without(c) : State::unknown;
  check.found = c.facts.rocm ? "none in " + c.facts.rocm->root.string() : "none";
  check.why = "find_package(hip) and CMake's HIP language need it";
  check.fix = system_command(c, "hip-dev");
  return check;
}

// The family of wheels for the GPU, and whether the installed libraries contain code for it.
std::optional<Check> check_rocm_family(const Case& c) {
  const std::vector<std::string> targets = targets_of(c.archs);
  if (!wanted_here(c) || targets.empty()) return std::nullopt;
  Check check{.id = "rocm-family", .wanted = "libraries for " + join(targets, ", ")};
  if (is_missing(c)) {
    const std::vector<std::string> families = families_of(targets);
    check.state = State::unknown;
    check.found = families.empty() ? "no family contains all of them; use one wheel per target"
                                   : "family " + join(families, " or ");
    check.why = "wheels of ROCm's libraries contain code for one family, or there is one wheel per GPU";
    return check;
  }
  if (!c.facts.rocm || c.facts.rocm->targets.empty() || !c.facts.registry_rocm.empty()) return std::nullopt;
  std::vector<std::string> absent;
  for (const std::string& target : targets) {
    const auto& all = c.facts.rocm->targets;
    if (std::find(all.begin(), all.end(), target) == all.end()) absent.push_back(target);
  }
  check.found = join(c.facts.rocm->targets, ", ");
  if (absent.empty()) return check;
  check.state = State::unknown;
  check.why = fmt::format("kernels can be compiled, but the libraries have no code for {}", join(absent, ", "));
  check.fix = wheels_command(c);
  return check;
}

std::optional<Check> check_rocm_torch(const Case& c) {
  if (!wanted_here(c) || !c.facts.rocm || !c.facts.torch || c.facts.torch->hip.empty()) return std::nullopt;
  const std::string torch = major_minor(c.facts.torch->hip), here = major_minor(c.facts.rocm->version);
  Check check{.id = "rocm-torch", .found = "ROCm " + here, .wanted = "ROCm " + torch + ", which torch was built with"};
  if (torch == here) return check;
  const bool same_major = major_number(torch) == major_number(here);
  check.state = same_major || here.empty() ? State::unknown : State::bad;
  check.why = same_major ? "libraries of another minor version usually work"
                         : "libraries of two major versions do not work together";
  check.fix = fmt::format("give a ROCm {} with --rocm", torch);
  return check;
}

}  // namespace wheelsmith::doctor
