#include "choose/variants.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/request_error.h"

namespace wheelsmith::choose {

namespace {

using recipe::Variant;

gpu::Vendor vendor_of(Variant variant) { return variant == Variant::rocm ? gpu::Vendor::amd : gpu::Vendor::nvidia; }

bool has(const std::vector<Variant>& variants, Variant variant) {
  return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

// Each architecture once, in the order of the devices.
gpu::ArchList archs_of(const std::vector<toolchain::Gpu>& gpus, gpu::Vendor vendor) {
  gpu::ArchList list;
  for (const toolchain::Gpu& gpu : gpus) {
    const bool there = std::any_of(list.requests.begin(), list.requests.end(),
                                   [&](const gpu::ArchRequest& request) { return request.arch == gpu.arch; });
    if (gpu.arch.vendor == vendor && !there) list.requests.push_back({.arch = gpu.arch, .binary = true, .ptx = false});
  }
  return list;
}

// A list of both vendors is meant for the variants that each part fits.
std::vector<gpu::ArchList> requested_archs(const Request& request, Variant variant) {
  std::vector<gpu::ArchList> lists;
  for (const gpu::ArchList& list : request.archs) {
    gpu::ArchList part;
    for (const gpu::ArchRequest& item : list.requests) {
      if (item.arch.vendor == vendor_of(variant)) part.requests.push_back(item);
    }
    if (!part.requests.empty()) lists.push_back(part);
  }
  if (!request.archs.empty() && lists.empty())
    throw RequestError(
        fmt::format("none of the architectures asked for belongs to variant {}", recipe::to_string(variant)));
  return lists;
}

}  // namespace

Chosen<std::vector<Variant>> choose_variants(const Request& request, const recipe::Recipe& recipe,
                                             const std::vector<toolchain::Gpu>& gpus) {
  if (!request.variants.empty()) return {request.variants, {}};
  const std::vector<Variant> known = recipe.variants();
  for (const toolchain::Gpu& gpu : gpus) {
    const Variant variant = gpu.arch.vendor == gpu::Vendor::amd ? Variant::rocm : Variant::cuda;
    if (!has(known, variant)) continue;
    return {{variant},
            {fmt::format("{}: variant {}, since this machine has an {}", recipe.name, recipe::to_string(variant),
                         gpu.name)}};
  }
  if (known.empty()) throw Error(fmt::format("the recipe {} has no variant", recipe.name));
  const Variant variant = has(known, Variant::cpu) ? Variant::cpu : known.front();
  return {{variant},
          {fmt::format("{}: variant {}, since no GPU is here; --variant chooses another", recipe.name,
                       recipe::to_string(variant))}};
}

Chosen<std::vector<gpu::ArchList>> choose_archs(const Request& request, const recipe::Recipe& recipe, Variant variant,
                                                const std::vector<toolchain::Gpu>& gpus,
                                                const sys::Environment& environment) {
  if (variant == Variant::cpu) return {{gpu::ArchList{}}, {}};
  const recipe::ArchRules& rules = recipe.rules(variant, request.target).archs;
  Chosen<std::vector<gpu::ArchList>> chosen{requested_archs(request, variant), {}};
  if (chosen.what.empty()) {
    const auto family = environment.find("ROCM_SDK_TARGET_FAMILY");
    if (variant == Variant::rocm && family != environment.end() && !family->second.empty()) {
      chosen.what.push_back(gpu::ArchList::parse(family->second));
      chosen.notes.push_back(
          fmt::format("{}: architectures {} of ROCM_SDK_TARGET_FAMILY", recipe.name, chosen.what.back().to_string()));
    } else if (gpu::ArchList here = archs_of(gpus, vendor_of(variant)); !here.requests.empty()) {
      chosen.notes.push_back(
          fmt::format("{}: architectures {} of the GPUs that are here", recipe.name, here.to_string()));
      chosen.what.push_back(std::move(here));
    } else if (!rules.fallback.empty()) {
      chosen.what.push_back(gpu::ArchList::parse(rules.fallback));
      chosen.notes.push_back(
          fmt::format("{}: architectures {} of the recipe, since no GPU is here; --arch chooses others", recipe.name,
                      chosen.what.back().to_string()));
    } else {
      chosen.what.push_back({});
    }
  }
  for (const gpu::ArchList& list : chosen.what) recipe::check_legal(list, rules, recipe.name);
  return chosen;
}

Variant dependency_variant(const recipe::Recipe& dependency, Variant of) {
  const std::vector<Variant> known = dependency.variants();
  if (known.empty()) throw Error(fmt::format("the recipe {} has no variant", dependency.name));
  return has(known, of) ? of : known.front();
}

}  // namespace wheelsmith::choose
