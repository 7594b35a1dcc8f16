#pragma once

#include "sys/sandbox/sandbox.h"

namespace wheelsmith::sys {

// The Landlock version that the kernel offers; 0: none.
int landlock_version();
// Restricts this process and its descendants to the files of the policy and the system. Throws Error.
void enter_landlock(const SandboxPolicy& policy);

// Restricts abstract local sockets to the sandbox. They belong to a network namespace, so a program with the machine's
// network would see the desktop's. Does nothing on kernels before 6.12, which cannot do it.
void leave_abstract_sockets();

}  // namespace wheelsmith::sys
