#pragma once

#include <filesystem>

#include "settings/settings.h"
#include "settings/trust.h"

// Finds the project's wheelsmith.toml, checks that it is trusted, and reads it.

namespace wheelsmith::cli {

// Reads the project's file into the settings. The settings must already hold the options of the command line and the
// environment, because --config and --no-config are among them. Asks on a terminal whether to trust an untrusted file.
// Throws Error, or UsageError for a file that is not trusted.
void read_project_settings(settings::Settings& settings, const sys::Environment& environment);

// Throws UsageError for a file that cannot be trusted because of its owner or permissions.
void require_own_file(const settings::ProjectText& project);

}  // namespace wheelsmith::cli
