#pragma once

#include <string>
#include <vector>

#include "recipe/recipe.h"
#include "recipe/table_reader.h"

namespace wheelsmith::recipe {

// What {placeholders} may name.
struct PlaceholderScope {
  std::vector<std::string> settings;
  bool any_setting = false;  // those of the recipe that is extended are not known yet
};
std::string check_placeholders(const std::string& text, const PlaceholderScope& scope);

// The tables build, requires, archs, needs, optional, check, test and known out of `in`: the recipe itself, a variant,
// a target, or all of them overlaid.
void read_rules(TableReader& in, const PlaceholderScope& scope, Rules& rules);

// The names of those tables.
const std::vector<std::string>& rules_tables();
// Those of a table, with what is to be added to them (more-NAME).
document::Table only_rules(const document::Table& table);

}  // namespace wheelsmith::recipe
