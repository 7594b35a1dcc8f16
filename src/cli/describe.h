#pragma once

#include "cli/command.h"
#include "report/help.h"

namespace wheelsmith::cli {

inline constexpr const char* k_help_text = "Print help: -h a summary, --help everything";

// The commands as data, for help, completion and manual pages. Internal commands are left out.
report::DescribedCommand describe(const CLI::App& command);

// The help of a command on standard output.
void print_help(const CLI::App& command, report::HelpLength length);

}  // namespace wheelsmith::cli
