// Architectures: compares the requested ones with those that the package supports and with the machine's GPUs.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "doctor/case.h"

namespace wheelsmith::doctor {

namespace {

gpu::Fit best_fit(const gpu::ArchList& archs, const gpu::Arch& device) {
  gpu::Fit best = gpu::Fit::none;
  for (const gpu::ArchRequest& request : archs.requests) {
    const bool amd = request.arch.vendor == gpu::Vendor::amd;
    if (request.binary) {
      best = std::max(best, gpu::fit(request.arch, amd ? gpu::CodeKind::hip : gpu::CodeKind::sass, device));
    }
    if (request.ptx) best = std::max(best, gpu::fit(request.arch, gpu::CodeKind::ptx, device));
  }
  return best;
}

std::string described_gpu(const toolchain::Gpu& gpu) {
  return fmt::format("{} ({})", gpu.name, gpu::to_string({.arch = gpu.arch, .binary = true, .ptx = false}));
}

}  // namespace

std::optional<Check> check_archs(const Case& c) {
  if (c.archs.requests.empty()) return std::nullopt;
  Check check{.id = "archs",
              .found = c.archs.to_string(),
              .wanted = c.rules.archs.legal.empty() ? "any architecture that the toolkit supports"
                                                    : "some of " + join(c.rules.archs.legal, ", ")};
  try {
    recipe::check_legal(c.archs, c.rules.archs, c.recipe.name);
    (void)recipe::spell(c.archs, c.rules.archs);
  } catch (const Error& error) {
    check.state = State::bad;
    check.why = error.what();
    const std::string& some = c.rules.archs.fallback.empty() ? join(c.rules.archs.legal, ";") : c.rules.archs.fallback;
    check.fix = some.empty() ? "choose others with --arch" : fmt::format("--arch \"{}\"", some);
  }
  return check;
}

std::optional<Check> check_refusals(const Case& c) {
  for (const recipe::Refusal& refusal : c.rules.refusals) {
    const std::vector<std::string> hit = refusal.hits(c.archs);
    if (hit.empty() && !refusal.archs.empty()) continue;
    Check check{.id = "refused", .wanted = "a build that " + c.recipe.name + " supports"};
    check.found = hit.empty() ? "not supported" : "not supported for " + join(hit, ", ");
    check.why = refusal.why;
    const bool overridden = refusal.is_overridden(c.facts.settings);
    check.state = overridden ? State::unknown : State::bad;
    if (overridden) check.found += ", overridden by --set " + refusal.override_by;
    if (!overridden) check.fix = c.recipe.override_words(refusal);
    return check;
  }
  return std::nullopt;
}

std::optional<Check> check_gpu(const Case& c) {
  if (c.variant == recipe::Variant::cpu || c.archs.requests.empty()) return std::nullopt;
  const gpu::Vendor vendor = c.variant == recipe::Variant::rocm ? gpu::Vendor::amd : gpu::Vendor::nvidia;
  std::vector<std::string> here, unserved, by_jit;
  for (const toolchain::Gpu& gpu : c.facts.gpus) {
    if (gpu.arch.vendor != vendor) continue;
    here.push_back(described_gpu(gpu));
    const gpu::Fit fit = best_fit(c.archs, gpu.arch);
    if (fit == gpu::Fit::none) unserved.push_back(here.back());
    if (fit == gpu::Fit::jit) by_jit.push_back(here.back());
  }
  Check check{
      .id = "gpu", .found = here.empty() ? "none" : join(here, ", "), .wanted = "code for " + c.archs.to_string()};
  if (here.empty()) {
    check.state = State::unknown;
    check.why = "tests that need a GPU are not run; run them on another machine with `wheelsmith test`";
  } else if (!unserved.empty()) {
    // The wheel may be for other machines.
    check.state = State::unknown;
    check.why = "the wheel will not run on " + join(unserved, ", ");
    check.fix = "to run it there, add the architecture to --arch";
  } else if (!by_jit.empty()) {
    check.why = "PTX is compiled on first use on " + join(by_jit, ", ");
  }
  return check;
}

}  // namespace wheelsmith::doctor
