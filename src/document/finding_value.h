#pragma once

#include "base/finding.h"
#include "document/value.h"

namespace wheelsmith::document {

// A finding in the JSON contract's form (docs/json.md).
Value to_value(const Finding& finding);

}  // namespace wheelsmith::document
