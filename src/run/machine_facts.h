#pragma once

#include "diagnose/diagnose.h"

namespace wheelsmith::run {

// Facts about this machine that fixes may mention, and nvcc's known limits.
diagnose::Machine machine_for_remedies(diagnose::Audience audience);

}  // namespace wheelsmith::run
