// Packages built against torch require one of its minor versions. A mismatched version often compiles for an hour
// before it fails, or fails at the first import; so a torch without a pair is an error that names the closest ones.

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

std::string described_pair(const std::pair<pep::Version, std::string>& pair, const SeriesMap& pairs) {
  return fmt::format("torch {} ({})", pair.second, pairs.at(pair.second));
}

// Each series of the pairs, the oldest first.
std::vector<std::pair<pep::Version, std::string>> by_version(const SeriesMap& pairs) {
  std::vector<std::pair<pep::Version, std::string>> sorted;
  for (const auto& [series, ref] : pairs) {
    if (const auto version = pep::Version::try_parse(series)) sorted.emplace_back(*version, series);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return sorted;
}

// The pairs below and above the torch that has none.
std::string nearest_pairs(const SeriesMap& pairs, const pep::Version& wanted) {
  const auto sorted = by_version(pairs);
  const auto above = std::find_if(sorted.begin(), sorted.end(), [&](const auto& one) { return wanted < one.first; });
  std::vector<std::string> names;
  if (above != sorted.begin()) names.push_back(described_pair(*std::prev(above), pairs));
  if (above != sorted.end()) names.push_back(described_pair(*above, pairs));
  return join(names, " and ");
}

// "0.24" of "v0.24.1"; "" for a ref that is not a version.
std::string minor_of(std::string_view ref, const Source& source) {
  if (!source.tag_prefix.empty() && ref.starts_with(source.tag_prefix)) ref.remove_prefix(source.tag_prefix.size());
  if (ref.starts_with('v')) ref.remove_prefix(1);
  const auto parts = split(ref, '.');
  return pep::Version::try_parse(ref) && parts.size() > 1 ? fmt::format("{}.{}", parts[0], parts[1]) : "";
}

}  // namespace

std::map<std::string, std::string> torch_pairs(const Source& source, std::optional<Variant> variant) {
  SeriesMap pairs = source.refs;
  const auto own = variant ? source.refs_for.find(std::string(to_string(*variant))) : source.refs_for.end();
  if (own == source.refs_for.end()) return pairs;
  for (const auto& [series, ref] : own->second) pairs[series] = ref;
  return pairs;
}

std::string torch_for_ref(const Recipe& recipe, std::optional<Variant> variant, std::string_view ref) {
  const SeriesMap pairs = torch_pairs(recipe.source, variant);
  const std::string minor = minor_of(ref, recipe.source);
  std::string exact, close;
  for (const auto& [version, series] : by_version(pairs)) {
    const std::string& paired = pairs.at(series);
    if (paired == ref) exact = series;
    if (!minor.empty() && minor_of(paired, recipe.source) == minor) close = series;
  }
  return exact.empty() ? close : exact;
}

bool is_paired(const Recipe& recipe, std::optional<Variant> variant, std::string_view ref, std::string_view series) {
  const std::string minor = minor_of(ref, recipe.source);
  bool known = false;
  for (const auto& [torch, paired] : torch_pairs(recipe.source, variant)) {
    if (paired != ref && (minor.empty() || minor_of(paired, recipe.source) != minor)) continue;
    if (torch == series) return true;
    known = true;
  }
  return !known;
}

std::string ref_for_torch(const Recipe& recipe, std::optional<Variant> variant, std::string_view series) {
  const SeriesMap pairs = torch_pairs(recipe.source, variant);
  const auto found = pairs.find(std::string(series));
  if (found != pairs.end()) return found->second;
  const auto wanted = pep::Version::try_parse(series);
  const std::string near = wanted ? nearest_pairs(pairs, *wanted) : "";
  throw RequestError(
      fmt::format("{}: no release is known for torch {}{}; choose another torch with --torch, or a release with --ref",
                  recipe.name, printable(series), near.empty() ? "" : "; the closest are " + near));
}

std::string unchecked_reason(const Recipe& recipe, std::string_view version) {
  if (recipe.source.checked.empty()) return "";
  const auto parsed = pep::Version::try_parse(version);
  if (!parsed)
    return fmt::format("{}: the source is not a release; its recipe was verified for {} and may not match", recipe.name,
                       recipe.source.checked);
  if (pep::contains(pep::parse_specifiers(recipe.source.checked), *parsed)) return "";
  return fmt::format("{} {} is outside the versions that its recipe was verified for ({}); its rules may not match",
                     recipe.name, printable(version), recipe.source.checked);
}

}  // namespace wheelsmith::recipe
