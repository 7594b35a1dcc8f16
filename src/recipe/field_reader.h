#pragma once

#include "recipe/recipe.h"
#include "recipe/table_reader.h"

namespace wheelsmith::recipe {

// The tables that only some packages need: checkout, fetch, preload, refuse, runtime, checklist, platform.
void read_fields(TableReader& in, const TextCheck& expandable, Rules& rules);

// For reasons that may not be missing.
std::string say_why(const std::string& reason);

}  // namespace wheelsmith::recipe
