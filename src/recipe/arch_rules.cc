// The same list of architectures, as each package wants to read it.

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

using gpu::ArchRequest;
using gpu::Vendor;

[[noreturn]] void cannot(const ArchRequest& request, std::string_view why) {
  throw RequestError(fmt::format("architecture {} cannot be asked for: {}", gpu::to_string(request), why));
}

void spell_nvidia(const ArchRequest& request, ArchSpelling spelling, std::vector<std::string>& words) {
  const std::string number = std::to_string(request.arch.number) + request.arch.suffix;
  if (!request.binary && (spelling == ArchSpelling::dotted || spelling == ArchSpelling::compact)) {
    cannot(request, "the package's list has no word for PTX without binary code");
  }
  switch (spelling) {
    case ArchSpelling::dotted: words.push_back(gpu::to_string(request)); return;
    case ArchSpelling::compact:
      if (request.ptx) cannot(request, "the package's list has no word for PTX");
      words.push_back(number);
      return;
    case ArchSpelling::cmake:
      words.push_back(number + (request.binary && request.ptx ? "" : request.binary ? "-real" : "-virtual"));
      return;
    case ArchSpelling::sm:
      if (request.binary) words.push_back("sm_" + number);
      if (request.ptx) words.push_back("compute_" + number);
      return;
    case ArchSpelling::gfx: cannot(request, "the package's list is of AMD targets (gfx942)");
  }
}

void spell_amd(const ArchRequest& request, ArchSpelling spelling, std::vector<std::string>& words) {
  if (spelling != ArchSpelling::gfx && spelling != ArchSpelling::cmake) {
    cannot(request, "the package's list is of NVIDIA architectures");
  }
  words.push_back(request.arch.target);
}

// The processor, whatever features are asked for: "gfx90a:xnack-" is gfx90a.
bool same_processor(const gpu::Arch& legal, const gpu::Arch& asked) {
  if (legal.vendor != asked.vendor) return false;
  if (legal.vendor == Vendor::nvidia) return legal == asked;
  return legal.target == asked.target || legal.target == asked.target.substr(0, asked.target.find(':'));
}

}  // namespace

std::string spell(const gpu::ArchList& archs, const ArchRules& rules) {
  std::vector<std::string> words;
  for (const ArchRequest& request : archs.requests) {
    if (request.ptx && !rules.ptx) cannot(request, "the package's build makes no PTX; leave out +PTX");
    if (request.arch.vendor == Vendor::nvidia) {
      spell_nvidia(request, rules.spelling, words);
    } else {
      spell_amd(request, rules.spelling, words);
    }
  }
  return join(words, rules.separator);
}

void check_legal(const gpu::ArchList& archs, const ArchRules& rules, std::string_view package) {
  if (rules.legal.empty()) return;
  std::vector<gpu::Arch> legal;
  for (const std::string& text : rules.legal) {
    for (const ArchRequest& request : gpu::ArchList::parse(text).requests) legal.push_back(request.arch);
  }
  std::vector<std::string> refused;
  for (const ArchRequest& request : archs.requests) {
    const auto fits = [&](const gpu::Arch& one) { return same_processor(one, request.arch); };
    if (std::none_of(legal.begin(), legal.end(), fits)) refused.push_back(gpu::to_string(request));
  }
  if (refused.empty()) return;
  throw RequestError(
      fmt::format("{} cannot be built for {}; it can for {}", package, join(refused, ", "), join(rules.legal, ", ")));
}

}  // namespace wheelsmith::recipe
