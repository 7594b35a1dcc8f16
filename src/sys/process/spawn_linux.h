#pragma once

#include <sys/types.h>

#include "sys/io/fd.h"
#include "sys/process/process.h"

// Starts a process. Only src/sys includes this.

namespace wheelsmith::sys {

struct Spawned {
  pid_t pid = 0;
  Fd output;  // read ends, non-blocking
  Fd errors;  // closed when standard error is merged into the output
};

enum class ErrorStream { joined, separate };

// Throws Error when the program cannot be started; no process exists then.
Spawned spawn(const Command& command, ErrorStream errors);

}  // namespace wheelsmith::sys
