#pragma once

#include "cli/command.h"
#include "report/help.h"

namespace wheelsmith::cli {

inline constexpr const char* k_help_text = "Print help (-h: summary, --help: complete)";

// The commands as data, for help, completion and manual pages. Internal commands are excluded.
report::DescribedCommand describe(const CLI::App& command);

// Prints the help of a command to standard output.
void print_help(const CLI::App& command, report::HelpLength length);

}  // namespace wheelsmith::cli
