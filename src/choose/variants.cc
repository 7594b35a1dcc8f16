#include "choose/variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "choose/user_variables.h"

namespace wheelsmith::choose {

namespace {

using recipe::Variant;

gpu::Vendor vendor_of(Variant variant) { return variant == Variant::rocm ? gpu::Vendor::amd : gpu::Vendor::nvidia; }

bool has(const std::vector<Variant>& variants, Variant variant) {
  return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

std::vector<gpu::Device> of_vendor(std::vector<gpu::Device> devices, gpu::Vendor vendor) {
  std::erase_if(devices, [&](const gpu::Device& device) { return device.arch.vendor != vendor; });
  return devices;
}

std::vector<gpu::Device> devices_here(const std::vector<toolchain::Gpu>& gpus) {
  std::vector<gpu::Device> devices;
  for (const toolchain::Gpu& gpu : gpus) devices.push_back({gpu.name, gpu.arch});
  return devices;
}

std::string unserved_problem(const recipe::Recipe& recipe, const recipe::ArchRules& rules,
                             const std::vector<std::string>& unserved) {
  return fmt::format("{} cannot be built for {}; supported: {}", recipe.name, join(unserved, ", "),
                     rules.fixed.empty() ? join(rules.legal, ", ") : rules.fixed);
}

// A list with architectures of both vendors is split by variant; so are devices.
Chosen<std::vector<gpu::ArchList>> requested_archs(const Request& request, const recipe::Recipe& recipe,
                                                   const recipe::ArchRules& rules, Variant variant) {
  Chosen<std::vector<gpu::ArchList>> chosen;
  for (const gpu::ArchList& list : request.archs) {
    gpu::ArchList part;
    for (const gpu::ArchRequest& item : list.requests) {
      if (item.arch.vendor == vendor_of(variant)) part.requests.push_back(item);
    }
    if (!part.requests.empty()) chosen.what.push_back(part);
  }
  const std::vector<gpu::Device> devices = of_vendor(request.devices, vendor_of(variant));
  if (!devices.empty()) {
    recipe::Serving serving = recipe::archs_for_devices(devices, rules);
    if (!serving.unserved.empty()) throw RequestError(unserved_problem(recipe, rules, serving.unserved));
    chosen.notes = std::move(serving.notes);
    if (chosen.what.empty()) chosen.what.emplace_back();
    std::vector<gpu::ArchRequest>& list = chosen.what.front().requests;
    for (const gpu::ArchRequest& one : serving.archs.requests) {
      const auto same = [&](const gpu::ArchRequest& other) { return other.arch == one.arch; };
      if (std::none_of(list.begin(), list.end(), same)) list.push_back(one);
    }
  }
  if (chosen.what.empty() && !(request.archs.empty() && request.devices.empty()))
    throw RequestError(
        fmt::format("none of the requested architectures belongs to variant {}", recipe::to_string(variant)));
  return chosen;
}

// A list given by --env is used like --arch; one set in the environment is the default of --arch.
void take_user_variables(Chosen<std::vector<gpu::ArchList>>& chosen, const Request& request,
                         const recipe::Recipe& recipe, Variant variant, const sys::Environment& exported) {
  std::string problem;
  if (const auto given = find_arch_variable(request.environment, variant, problem)) {
    if (!chosen.what.empty() && chosen.what != std::vector{given->archs})
      throw RequestError(fmt::format("--env {} is {}, but --arch or --gpu is {}: the build would get two values",
                                     given->name, given->archs.to_string(), chosen.what.front().to_string()));
    chosen.what = {given->archs};
    chosen.notes.push_back(
        fmt::format("{}: architectures {} from --env {}", recipe.name, given->archs.to_string(), given->name));
    return;
  }
  if (!problem.empty()) throw RequestError("--env " + problem);
  const auto found = find_arch_variable(exported, variant, problem);
  if (!problem.empty())
    chosen.notes.push_back(fmt::format("environment variable {}; ignored, choose architectures with --arch", problem));
  if (!found) return;
  if (chosen.what.empty()) {
    chosen.what = {found->archs};
    chosen.notes.push_back(fmt::format("{}: architectures {} from {} in the environment; choose others with --arch",
                                       recipe.name, found->archs.to_string(), found->name));
  } else if (chosen.what != std::vector{found->archs}) {
    chosen.notes.push_back(fmt::format("{}: {}={} in the environment is ignored, because --arch or --gpu is given",
                                       recipe.name, found->name, found->archs.to_string()));
  }
}

// If the package always compiles for a fixed list, that list is built and checked.
void take_fixed(Chosen<std::vector<gpu::ArchList>>& chosen, const recipe::Recipe& recipe,
                const recipe::ArchRules& rules) {
  if (rules.fixed.empty()) return;
  const gpu::ArchList fixed = gpu::ArchList::parse(rules.fixed);
  if (chosen.what != std::vector{fixed})
    chosen.notes.push_back(fmt::format("{}: this version always compiles for {}", recipe.name, fixed.to_string()));
  chosen.what = {fixed};
}

// --arch and --gpu as the user would write them, for one vendor.
std::string architecture_options(const Request& request, gpu::Vendor vendor) {
  std::vector<std::string> archs, options;
  for (const gpu::ArchList& list : request.archs) {
    for (const gpu::ArchRequest& one : list.requests) {
      if (one.arch.vendor == vendor) archs.push_back(gpu::to_string(one));
    }
  }
  if (!archs.empty()) options.push_back("--arch " + join(archs, ";"));
  for (const gpu::Device& device : of_vendor(request.devices, vendor)) options.push_back("--gpu " + device.name);
  return join(options, ", ");
}

// A request for a GPU must never produce a wheel without GPU code, so --arch and --gpu imply the variant if --variant
// is not given. Throws RequestError if they contradict each other.
std::optional<Variant> implied_variant(const Request& request) {
  std::optional<Variant> implied;
  for (const Variant variant : {Variant::cuda, Variant::rocm}) {
    const std::string options = architecture_options(request, vendor_of(variant));
    if (options.empty()) continue;
    if (!request.variants.empty() && !has(request.variants, variant)) {
      std::vector<std::string> names;
      for (const Variant one : request.variants) names.emplace_back(recipe::to_string(one));
      throw RequestError(fmt::format("{0} needs variant {1}, which --variant {2} excludes; use --variant {1}", options,
                                     recipe::to_string(variant), join(names, ",")));
    }
    if (implied && request.variants.empty())
      throw RequestError(fmt::format(
          "{} needs variant cuda and {} needs variant rocm; use --variant cuda,rocm to build one wheel for each",
          architecture_options(request, gpu::Vendor::nvidia), options));
    implied = variant;
  }
  return implied;
}

Chosen<std::vector<Variant>> for_implied_variant(Variant implied, const Request& request, const recipe::Recipe& recipe,
                                                 const std::vector<Variant>& known) {
  const std::string options = architecture_options(request, vendor_of(implied));
  const std::string_view name = recipe::to_string(implied);
  if (has(known, implied)) return {{implied}, {fmt::format("{}: variant {} for {}", recipe.name, name, options)}};
  std::vector<std::string> names;
  for (const Variant one : known) names.emplace_back(recipe::to_string(one));
  // Among several packages, one without GPU code is built for the CPU.
  if (request.packages.size() > 1 && has(known, Variant::cpu))
    return {{Variant::cpu}, {fmt::format("{}: variant cpu, because it has no variant {}", recipe.name, name)}};
  throw RequestError(fmt::format("{} needs variant {}, but {} has only {}", options, name, recipe.name,
                                 names.empty() ? "none" : join(names, ", ")));
}

}  // namespace

Chosen<std::vector<Variant>> choose_variants(const Request& request, const recipe::Recipe& recipe,
                                             const std::vector<toolchain::Gpu>& gpus) {
  const auto implied = implied_variant(request);
  if (!request.variants.empty()) return {request.variants, {}};
  const std::vector<Variant> known = recipe.variants();
  if (implied) return for_implied_variant(*implied, request, recipe, known);
  for (const toolchain::Gpu& gpu : gpus) {
    const Variant variant = gpu.arch.vendor == gpu::Vendor::amd ? Variant::rocm : Variant::cuda;
    if (!has(known, variant)) continue;
    return {{variant},
            {fmt::format("{}: variant {}, because this machine has an {}", recipe.name, recipe::to_string(variant),
                         gpu.name)}};
  }
  if (known.empty()) throw Error(fmt::format("the recipe {} has no variant", recipe.name));
  const Variant variant = has(known, Variant::cpu) ? Variant::cpu : known.front();
  if (known.size() == 1) return {{variant}, {}};  // there is no other to choose
  return {{variant},
          {fmt::format("{}: variant {}, because this machine has no GPU; choose another with --variant", recipe.name,
                       recipe::to_string(variant))}};
}

Chosen<std::vector<gpu::ArchList>> choose_archs(const Request& request, const recipe::Recipe& recipe, Variant variant,
                                                const std::vector<toolchain::Gpu>& gpus,
                                                const sys::Environment& environment) {
  if (variant == Variant::cpu) return {{gpu::ArchList{}}, {}};
  const recipe::ArchRules& rules = recipe.rules(variant, request.target).archs;
  Chosen<std::vector<gpu::ArchList>> chosen = requested_archs(request, recipe, rules, variant);
  take_user_variables(chosen, request, recipe, variant, environment);
  const std::vector<gpu::Device> here = of_vendor(devices_here(gpus), vendor_of(variant));
  if (chosen.what.empty()) {
    const auto family = environment.find("ROCM_SDK_TARGET_FAMILY");
    if (variant == Variant::rocm && family != environment.end() && !family->second.empty()) {
      chosen.what.push_back(gpu::ArchList::parse(family->second));
      chosen.notes.push_back(
          fmt::format("{}: architectures {} from ROCM_SDK_TARGET_FAMILY", recipe.name, chosen.what.back().to_string()));
    } else if (!here.empty()) {
      recipe::Serving serving = recipe::archs_for_devices(here, rules);
      if (serving.archs.requests.empty()) throw RequestError(unserved_problem(recipe, rules, serving.unserved));
      chosen.notes.push_back(
          fmt::format("{}: architectures {} of this machine's GPUs", recipe.name, serving.archs.to_string()));
      for (const std::string& device : serving.unserved)
        chosen.notes.push_back(fmt::format("{} has no code that runs on {}", recipe.name, device));
      chosen.notes.insert(chosen.notes.end(), serving.notes.begin(), serving.notes.end());
      chosen.what.push_back(std::move(serving.archs));
    } else if (!rules.fallback.empty()) {
      chosen.what.push_back(gpu::ArchList::parse(rules.fallback));
      chosen.notes.push_back(
          fmt::format("{}: architectures {} of the recipe, because this machine has no GPU; choose others with --arch",
                      recipe.name, chosen.what.back().to_string()));
    } else {
      chosen.what.push_back({});
    }
  }
  for (const gpu::ArchList& list : chosen.what) recipe::check_legal(list, rules, recipe.name);
  take_fixed(chosen, recipe, rules);
  return chosen;
}

Variant dependency_variant(const recipe::Recipe& dependency, Variant of) {
  const std::vector<Variant> known = dependency.variants();
  if (known.empty()) throw Error(fmt::format("the recipe {} has no variant", dependency.name));
  return has(known, of) ? of : known.front();
}

}  // namespace wheelsmith::choose
