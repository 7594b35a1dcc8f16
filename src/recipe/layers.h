#pragma once

#include "document/value.h"

// Overlays tables: a recipe over the one it extends, a variant's tables over those for all variants, a target's over
// its variant's. Tables merge member by member; texts, numbers and lists replace; `more-KEY` appends to the list KEY of
// what lies below.

namespace wheelsmith::recipe {

document::Table overlay(const document::Table& below, const document::Table& above);
// When nothing more can come from below: more-KEY becomes KEY.
document::Table settled(const document::Table& table);

}  // namespace wheelsmith::recipe
