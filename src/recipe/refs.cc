// Packages that are built against torch belong to one of its minor versions each. A version that belongs to another one
// often compiles for an hour before it fails, or fails at the first import; so a torch without a pair is an error that
// names the nearest ones.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/request_error.h"
#include "base/text.h"
#include "pep/requirement.h"
#include "recipe/recipe.h"

namespace wheelsmith::recipe {
namespace {

using SeriesMap = std::map<std::string, std::string>;

// All pairs that hold for the variant.
SeriesMap pairs_of(const Source& source, Variant variant) {
  SeriesMap pairs = source.refs;
  const auto own = source.refs_for.find(std::string(to_string(variant)));
  if (own == source.refs_for.end()) return pairs;
  for (const auto& [series, ref] : own->second) pairs[series] = ref;
  return pairs;
}

std::string described_pair(const std::pair<pep::Version, std::string>& pair, const SeriesMap& pairs) {
  return fmt::format("torch {} ({})", pair.second, pairs.at(pair.second));
}

// The pairs below and above the torch that has none.
std::string nearest_pairs(const SeriesMap& pairs, const pep::Version& wanted) {
  std::vector<std::pair<pep::Version, std::string>> sorted;
  for (const auto& [series, ref] : pairs) {
    if (const auto version = pep::Version::try_parse(series)) sorted.emplace_back(*version, series);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto above = std::find_if(sorted.begin(), sorted.end(), [&](const auto& one) { return wanted < one.first; });
  std::vector<std::string> names;
  if (above != sorted.begin()) names.push_back(described_pair(*std::prev(above), pairs));
  if (above != sorted.end()) names.push_back(described_pair(*above, pairs));
  return join(names, " and ");
}

}  // namespace

std::string ref_for_torch(const Recipe& recipe, Variant variant, std::string_view series) {
  const SeriesMap pairs = pairs_of(recipe.source, variant);
  const auto found = pairs.find(std::string(series));
  if (found != pairs.end()) return found->second;
  const auto wanted = pep::Version::try_parse(series);
  const std::string near = wanted ? nearest_pairs(pairs, *wanted) : "";
  throw RequestError(
      fmt::format("{}: no release is known for torch {}{}; choose another torch with --torch, or a release with --ref",
                  recipe.name, printable(series), near.empty() ? "" : "; the nearest are " + near));
}

std::string unchecked_reason(const Recipe& recipe, std::string_view version) {
  if (recipe.source.checked.empty()) return "";
  const auto parsed = pep::Version::try_parse(version);
  if (!parsed)
    return fmt::format("{}: the source is not a release; its recipe was verified for {} and may not fit", recipe.name,
                       recipe.source.checked);
  if (pep::contains(pep::parse_specifiers(recipe.source.checked), *parsed)) return "";
  return fmt::format("{} {} is outside the versions that its recipe was verified for ({}); the rules may not fit",
                     recipe.name, printable(version), recipe.source.checked);
}

}  // namespace wheelsmith::recipe
