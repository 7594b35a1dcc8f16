#pragma once

#include <string_view>
#include <vector>

#include "pep/policy.h"

namespace wheelsmith::pep {

// The policies of a TOML text, in its order. `extends` finds those above it in the text and those in `extendable`.
// Throws Error with file and line.
std::vector<Policy> read_policies(std::string_view toml, std::string_view file_name,
                                  const std::vector<const Policy*>& extendable);

}  // namespace wheelsmith::pep
