#pragma once

#include <sys/types.h>

#include <functional>

namespace wheelsmith::sys {

// fork() in a thread that lives as long as the process; `child` runs in the new process and must not return. Returns
// the new PID, or -1 with errno set.
pid_t fork_from_living_thread(const std::function<void()>& child);

}  // namespace wheelsmith::sys
