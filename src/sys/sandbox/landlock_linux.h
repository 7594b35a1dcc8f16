#pragma once

#include "sys/sandbox/sandbox.h"

namespace wheelsmith::sys {

// The version of the interface that the kernel offers; 0: none.
int landlock_version();
// From now on this process and all that it starts reach no file but those of the policy and the system's. Throws Error.
void enter_landlock(const SandboxPolicy& policy);

}  // namespace wheelsmith::sys
