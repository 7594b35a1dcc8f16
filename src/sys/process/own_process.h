#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sys/process/process.h"

// What concerns our own process: where it runs, how often it was interrupted, and what it becomes.

namespace wheelsmith::sys {

// This machine's name; "?" where the kernel does not tell.
std::string host_name();

// As install_interrupt_flag(), but only the SIGINT after `harmless` of them ends us.
void install_interrupt_counter(unsigned harmless);
// How many interruptions there have been.
unsigned interruptions();

// As capture(), but an interruption does not end it early: for what must be done also when we are stopped.
Captured capture_to_the_end(const Command& command);

// Becomes another program, which gets our process, streams and environment. Throws Error when it cannot be started.
[[noreturn]] void become(const std::filesystem::path& program, const std::vector<std::string>& argv);

}  // namespace wheelsmith::sys
