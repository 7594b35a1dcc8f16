// Formats a list of architectures for each package.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/request_error.h"
#include "base/text.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

using gpu::ArchRequest;
using gpu::Vendor;

[[noreturn]] void cannot(const ArchRequest& request, std::string_view why) {
  throw RequestError(fmt::format("cannot build for architecture {}: {}", gpu::to_string(request), why));
}

void spell_nvidia(const ArchRequest& request, ArchSpelling spelling, std::vector<std::string>& words) {
  const std::string number = std::to_string(request.arch.number) + request.arch.suffix;
  if (!request.binary && (spelling == ArchSpelling::dotted || spelling == ArchSpelling::compact)) {
    cannot(request, "the package's list has no notation for PTX without binary code");
  }
  switch (spelling) {
    case ArchSpelling::dotted: words.push_back(gpu::to_string(request)); return;
    case ArchSpelling::compact:
      if (request.ptx) cannot(request, "the package's list has no notation for PTX");
      words.push_back(number);
      return;
    case ArchSpelling::cmake:
      words.push_back(number + (request.binary && request.ptx ? "" : request.binary ? "-real" : "-virtual"));
      return;
    case ArchSpelling::sm:
      if (request.binary) words.push_back("sm_" + number);
      if (request.ptx) words.push_back("compute_" + number);
      return;
    case ArchSpelling::gfx: cannot(request, "the package's list takes AMD targets (gfx942)");
  }
}

void spell_amd(const ArchRequest& request, ArchSpelling spelling, std::vector<std::string>& words) {
  if (spelling != ArchSpelling::gfx && spelling != ArchSpelling::cmake) {
    cannot(request, "the package's list takes NVIDIA architectures");
  }
  words.push_back(request.arch.target);
}

// The processor, whatever features are asked for: "gfx90a:xnack-" is gfx90a.
std::string processor(const gpu::Arch& arch) { return arch.target.substr(0, arch.target.find(':')); }

bool has_features(const gpu::Arch& arch) { return arch.target.find(':') != std::string::npos; }

bool is_legal(const gpu::Arch& legal, const gpu::Arch& asked, const ArchRules& rules) {
  if (legal.vendor != asked.vendor) return false;
  if (legal.vendor == Vendor::amd) return legal.target == asked.target || legal.target == processor(asked);
  if (legal == asked) return true;
  const auto stands_for = [&](const std::string& suffix) { return suffix == asked.suffix; };
  return legal.number == asked.number && legal.suffix.empty() &&
         std::any_of(rules.suffixes.begin(), rules.suffixes.end(), stands_for);
}

std::vector<gpu::Arch> archs_in(const std::vector<std::string>& texts) {
  std::vector<gpu::Arch> archs;
  for (const std::string& text : texts) {
    for (const ArchRequest& request : gpu::ArchList::parse(text).requests) archs.push_back(request.arch);
  }
  return archs;
}

gpu::CodeKind binary_kind(const gpu::Arch& arch) {
  return arch.vendor == Vendor::amd ? gpu::CodeKind::hip : gpu::CodeKind::sass;
}

bool runs_on(const gpu::Arch& code, const gpu::Arch& device) {
  return code.vendor == device.vendor && gpu::fit(code, binary_kind(code), device) == gpu::Fit::native;
}

// The code for a device among what the package can be built for: its own architecture, else the newest that runs there.
std::optional<gpu::Arch> best_for(const gpu::Arch& device, const std::vector<gpu::Arch>& legal) {
  const gpu::Arch plain = device.vendor == Vendor::amd ? gpu::amd_arch(processor(device)) : device;
  std::optional<gpu::Arch> best;
  for (const gpu::Arch& one : legal) {
    if (one == device || one == plain) return one;
    if (runs_on(one, device) && (!best || best->number < one.number)) best = one;
  }
  return best;
}

void add_arch(gpu::ArchList& list, const gpu::Arch& arch) {
  const auto same = [&](const ArchRequest& request) { return request.arch == arch; };
  if (std::none_of(list.requests.begin(), list.requests.end(), same))
    list.requests.push_back({.arch = arch, .binary = true, .ptx = false});
}

}  // namespace

std::string spell(const gpu::ArchList& archs, const ArchRules& rules) {
  std::vector<std::string> words;
  for (const ArchRequest& request : archs.requests) {
    if (request.ptx && !rules.ptx) cannot(request, "the package's build does not generate PTX; remove +PTX");
    if (request.arch.vendor == Vendor::nvidia) {
      spell_nvidia(request, rules.spelling, words);
    } else {
      spell_amd(request, rules.spelling, words);
    }
  }
  return join(words, rules.separator);
}

void check_legal(const gpu::ArchList& archs, const ArchRules& rules, std::string_view package) {
  const bool is_fixed = !rules.fixed.empty();
  const std::vector<std::string> words = is_fixed ? std::vector<std::string>{rules.fixed} : rules.legal;
  const std::vector<gpu::Arch> legal = archs_in(words);
  std::vector<std::string> refused, featured;
  for (const ArchRequest& request : archs.requests) {
    const auto fits = [&](const gpu::Arch& one) { return is_legal(one, request.arch, rules); };
    if (rules.features == ArchFeatures::refused && has_features(request.arch))
      featured.push_back(gpu::to_string(request));
    else if (!legal.empty() && std::none_of(legal.begin(), legal.end(), fits))
      refused.push_back(gpu::to_string(request));
  }
  if (!featured.empty()) {
    throw RequestError(fmt::format("{} does not accept target features; use {} instead of {}", package,
                                   featured.front().substr(0, featured.front().find(':')), join(featured, ", ")));
  }
  if (refused.empty()) return;
  throw RequestError(is_fixed ? fmt::format("{} cannot be built for {}; this version always compiles for {}", package,
                                            join(refused, ", "), rules.fixed)
                              : fmt::format("{} cannot be built for {}; supported: {}", package, join(refused, ", "),
                                            join(words, ", ")));
}

Serving archs_for_devices(const std::vector<gpu::Device>& devices, const ArchRules& rules) {
  Serving serving;
  const bool is_fixed = !rules.fixed.empty();
  std::vector<gpu::Arch> legal = is_fixed ? archs_in({rules.fixed}) : archs_in(rules.legal);
  if (is_fixed) {
    for (const gpu::Arch& arch : legal) add_arch(serving.archs, arch);
  }
  for (const gpu::Device& device : devices) {
    const bool plain = device.arch.vendor == Vendor::amd && rules.features != ArchFeatures::wanted;
    const gpu::Arch own = plain ? gpu::amd_arch(processor(device.arch)) : device.arch;
    const std::optional<gpu::Arch> best = legal.empty() ? std::optional(own) : best_for(device.arch, legal);
    if (!best) {
      serving.unserved.push_back(fmt::format("{} ({})", device.name, gpu::list_name(own)));
      continue;
    }
    // A list of plain names does not exclude requested features.
    const bool own_features = !plain && device.arch.vendor == Vendor::amd && best->target == processor(device.arch);
    if (!is_fixed) add_arch(serving.archs, own_features ? device.arch : *best);
    if (*best != own && !own_features)
      serving.notes.push_back(
          fmt::format("code for {} runs on {} ({})", gpu::list_name(*best), device.name, gpu::list_name(own)));
  }
  return serving;
}

}  // namespace wheelsmith::recipe
