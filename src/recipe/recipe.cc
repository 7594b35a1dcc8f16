#include "recipe/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/request_error.h"
#include "base/text.h"
#include "recipe/layers.h"
#include "recipe/rules_reader.h"
#include "recipe/table_reader.h"
#include "recipe/text_checks.h"

namespace wheelsmith::recipe {

using document::Table;
using document::Value;

namespace {

constexpr std::array<std::string_view, 3> k_variants = {"cpu", "cuda", "rocm"};
// The target that is meant when none is named.
constexpr std::string_view k_default_target = "default";

Value variant_table(const Recipe& recipe, Variant variant) {
  const Value* variants = recipe.document.find("variant");
  return variants == nullptr ? Value() : (*variants)[to_string(variant)];
}

// Why the variant or target cannot be built, if the recipe says so.
std::string forbidden(const Value& table) {
  return table["enabled"].boolean_or(true) ? "" : ": " + table["why"].text_or();
}

}  // namespace

std::string_view to_string(Variant variant) { return k_variants[static_cast<std::size_t>(variant)]; }

std::optional<Variant> variant_named(std::string_view name) {
  const auto found = std::find(k_variants.begin(), k_variants.end(), name);
  if (found == k_variants.end()) return std::nullopt;
  return static_cast<Variant>(found - k_variants.begin());
}

std::vector<Variant> Recipe::variants() const {
  std::vector<Variant> result;
  for (const auto& [key, rules] : all_rules) {
    if (result.empty() || result.back() != key.first) result.push_back(key.first);
  }
  return result;
}

std::vector<std::string> Recipe::targets(Variant variant) const {
  std::vector<std::string> result;
  for (const auto& [key, rules] : all_rules) {
    if (key.first == variant) result.push_back(key.second);
  }
  return result;
}

const RequiredLibrary* Requires::library(std::string_view wanted) const {
  const auto found =
      std::find_if(libraries.begin(), libraries.end(), [&](const auto& library) { return library.name == wanted; });
  return found == libraries.end() ? nullptr : &*found;
}

const Rules& Recipe::rules(Variant variant, const std::string& target) const {
  auto found = all_rules.find({variant, target});
  if (found == all_rules.end() && target.empty()) found = all_rules.find({variant, std::string(k_default_target)});
  if (found != all_rules.end()) return found->second;

  const Value table = variant_table(*this, variant);
  std::vector<std::string> legal = targets(variant);
  if (legal.empty()) {
    std::vector<std::string> names;
    for (const Variant one : variants()) names.emplace_back(to_string(one));
    throw RequestError(fmt::format("{} has no {} variant{}; it has {}", name, to_string(variant), forbidden(table),
                                   names.empty() ? "none" : join(names, ", ")));
  }
  if (legal == std::vector<std::string>{""}) {
    throw RequestError(fmt::format("{} has no targets; remove {}", name, in_quotes(target)));
  }
  if (target.empty()) throw RequestError(fmt::format("{} needs a target: {}", name, join(legal, ", ")));
  throw RequestError(fmt::format("{} ({}) has no target {}{}; it has {}{}", name, to_string(variant), in_quotes(target),
                                 forbidden(table["target"][target]), join(legal, ", "), suggestion(target, legal)));
}

std::string Recipe::to_toml() const { return document::to_toml(document); }

Value Recipe::expanded(Variant variant, const std::string& target) const {
  (void)rules(variant, target);
  const Value variant_value = variant_table(*this, variant);
  const bool by_default = target.empty() && all_rules.find({variant, target}) == all_rules.end();
  const Value target_value = variant_value["target"][by_default ? k_default_target : std::string_view(target)];

  Table layers = document;
  for (const Value* over : {&variant_value, &target_value}) {
    if (over->table() != nullptr) layers = overlay(layers, *over->table());
  }
  layers = settled(layers);
  Table result;
  result["name"] = name;
  result["project"] = project;
  for (const std::string_view key : {"source", "settings"}) {
    if (const Value* value = document.find(key)) result[key] = *value;
  }
  for (const std::string& key : rules_tables()) {
    // What is known about a build's cost decides nothing about its result.
    const Value* value = key == "known" ? nullptr : layers.find(key);
    if (value != nullptr) result[key] = *value;
  }
  return result;
}

}  // namespace wheelsmith::recipe
