#pragma once

#include "sys/sandbox/sandbox.h"

namespace wheelsmith::sys {

// Makes a root folder that shows what the policy says and nothing else, and enters it. In a mount namespace of our own,
// as the first process of a PID namespace. Throws Error.
void enter_own_root(const SandboxPolicy& policy);

}  // namespace wheelsmith::sys
