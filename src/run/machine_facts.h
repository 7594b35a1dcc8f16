#pragma once

#include "diagnose/diagnose.h"

namespace wheelsmith::run {

// What remedies may say of this machine, and what is known of nvcc.
diagnose::Machine machine_for_remedies(diagnose::Audience audience);

}  // namespace wheelsmith::run
