// ROCm: hipcc, its version, and the device libraries, without which only the first kernel's compile fails.

#include <fmt/format.h>

#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

bool wanted_here(const Case& c) { return c.variant == recipe::Variant::rocm; }

}  // namespace

std::optional<Check> check_rocm(const Case& c) {
  if (!wanted_here(c)) return std::nullopt;
  const std::string& specifiers = c.rules.requires_versions.rocm;
  Check check{.id = "rocm", .wanted = "hipcc of ROCm" + (specifiers.empty() ? "" : " " + specifiers)};
  if (c.facts.rocm) {
    check.found = fmt::format("ROCm {} in {} ({})", c.facts.rocm->version.empty() ? "?" : c.facts.rocm->version,
                              c.facts.rocm->root.string(), c.facts.rocm->origin);
    return check;
  }
  check.found = c.facts.rocm_problem.empty() ? "none" : c.facts.rocm_problem;
  if (!c.facts.rocm_problem.empty()) {
    check.state = State::bad;
    check.why = "the folder that was named is not one of ROCm, and another one is never taken instead";
    check.fix = "correct --rocm, or leave it out";
    return check;
  }
  const bool compiles = compiles_device_code(c.rules, c.variant);
  check.state = compiles ? State::bad : State::unknown;
  check.why = compiles ? "its kernels are compiled by hipcc" : "the recipe does not say that it compiles kernels";
  if (compiles) {
    check.fix =
        "apt-get install rocm-hip-sdk (AMD's repository), or name the folder of a ROCm with --rocm; rocm-sdk in PATH "
        "is "
        "found by itself";
  }
  return check;
}

std::optional<Check> check_rocm_version(const Case& c) {
  const std::string& specifiers = c.rules.requires_versions.rocm;
  if (!wanted_here(c) || !c.facts.rocm || specifiers.empty()) return std::nullopt;
  Check check{.id = "rocm-version",
              .found = "ROCm " + c.facts.rocm->version,
              .wanted = "ROCm " + specifiers,
              .why = c.recipe.name + " takes these versions of ROCm only",
              .fix = "name another one with --rocm"};
  const std::optional<bool> fits = satisfies(c.facts.rocm->version, specifiers);
  check.state = !fits ? State::unknown : *fits ? State::good : State::bad;
  if (!fits) check.found = "a ROCm that does not say its version";
  if (check.state != State::bad) check.fix.clear();
  return check;
}

std::optional<Check> check_rocm_device_libraries(const Case& c) {
  if (!wanted_here(c) || !c.facts.rocm) return std::nullopt;
  Check check{
      .id = "rocm-device-libraries", .found = c.facts.rocm->device_libraries.string(), .wanted = "amdgcn/bitcode/*.bc"};
  if (!check.found.empty()) return check;
  const bool compiles = compiles_device_code(c.rules, c.variant);
  check.state = compiles ? State::bad : State::unknown;
  check.found = "none below " + c.facts.rocm->root.string();
  check.why = "every kernel is linked with them";
  check.fix = "apt-get install rocm-device-libs";
  return check;
}

std::optional<Check> check_rocm_torch(const Case& c) {
  if (!wanted_here(c) || !c.facts.rocm || !c.facts.torch || c.facts.torch->hip.empty()) return std::nullopt;
  const std::string torch = major_minor(c.facts.torch->hip), here = major_minor(c.facts.rocm->version);
  Check check{.id = "rocm-torch", .found = "ROCm " + here, .wanted = "ROCm " + torch + ", which torch was built with"};
  if (torch == here) return check;
  const bool same_major = major_number(torch) == major_number(here);
  check.state = same_major || here.empty() ? State::unknown : State::bad;
  check.why = same_major ? "libraries of another minor version mostly fit"
                         : "libraries of two major versions do not fit together";
  check.fix = fmt::format("name a ROCm {} with --rocm", torch);
  return check;
}

}  // namespace wheelsmith::doctor
