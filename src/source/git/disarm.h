#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sys/process/process.h"

namespace wheelsmith::source {

// Repositories may come from others: an unpacked archive contains whatever .git/config its author wrote, and git runs
// the programs that it names, for instance filters of files in .gitattributes when it compares them. Adds variables to
// the environment that override these settings. `options` precede the command of git ("-c", "safe.directory=…"). Throws
// Error if git does not answer, and when interrupted unless it goes `to_the_end`.
void disarm_git(const std::filesystem::path& folder, const std::vector<std::string>& options,
                sys::Environment& environment, bool to_the_end);

}  // namespace wheelsmith::source
