#pragma once

#include <filesystem>
#include <string>

#include "run/job.h"
#include "store/store.h"

namespace wheelsmith::run {

// Creates a symbolic link, replacing any existing entry. Throws Error.
void link(const std::filesystem::path& target, const std::filesystem::path& name);

// A dependency as a requirement for exactly that file, whatever an index offers for its version. pip needs a wheel's
// file name, which blobs lack, so it gets a named link in `folder`. Throws Error.
std::string link_needed_wheel(const NeededWheel& need, const std::filesystem::path& folder, const store::Store& store);

}  // namespace wheelsmith::run
