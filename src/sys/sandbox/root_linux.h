#pragma once

#include "sys/sandbox/sandbox.h"

namespace wheelsmith::sys {

// Creates and enters a root folder that shows only the policy's paths. For the first process of a PID namespace, in its
// own mount namespace. Throws Error.
void enter_own_root(const SandboxPolicy& policy);

}  // namespace wheelsmith::sys
