#pragma once

#include "sys/sandbox/sandbox.h"

namespace wheelsmith::sys {

// The version of the interface that the kernel offers; 0: none.
int landlock_version();
// From now on this process and all that it starts reach no file but those of the policy and the system's. Throws Error.
void enter_landlock(const SandboxPolicy& policy);

// From now on local sockets with abstract names can only be reached inside. They belong to a network namespace, so a
// program that has the machine's network would see the desktop's. Where the kernel cannot (before 6.12), nothing
// happens.
void leave_abstract_sockets();

}  // namespace wheelsmith::sys
