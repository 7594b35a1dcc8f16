#pragma once

#include <filesystem>

#include "settings/settings.h"
#include "settings/trust.h"

// The project's wheelsmith.toml: found, trusted or refused, and read.

namespace wheelsmith::cli {

// Reads the project's file into the settings, whose options of the command line and of the environment must be there
// already: --config and --no-config are among them. Asks on a terminal whether an untrusted file is to be trusted.
// Throws Error, or UsageError for a file that is not trusted.
void read_project_settings(settings::Settings& settings, const sys::Environment& environment);

// Throws UsageError for a file that cannot be trusted because of its owner or permissions.
void require_own_file(const settings::ProjectText& project);

}  // namespace wheelsmith::cli
