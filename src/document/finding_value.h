#pragma once

#include "base/finding.h"
#include "document/value.h"

namespace wheelsmith::document {

// A finding as the JSON contract has it (docs/json.md).
Value to_value(const Finding& finding);

}  // namespace wheelsmith::document
