#pragma once

#include "cli/command.h"

// The subcommands of `wheelsmith rocm` that have their own source files.

namespace wheelsmith::cli {

void add_rocm_fetch(CLI::App& group, Outcome& outcome);
void add_rocm_package(CLI::App& group, Outcome& outcome);

}  // namespace wheelsmith::cli
