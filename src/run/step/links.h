#pragma once

#include <filesystem>
#include <string>

#include "run/job.h"
#include "store/store.h"

namespace wheelsmith::run {

// A symbolic link, in place of whatever has that name. Throws Error.
void link(const std::filesystem::path& target, const std::filesystem::path& name);

// A needed wheel as a requirement of exactly that file, whatever an index has of its version. pip reads a wheel's name,
// which blobs of the store do not have: it gets a link in `folder` that does. Throws Error.
std::string link_needed_wheel(const NeededWheel& need, const std::filesystem::path& folder, const store::Store& store);

}  // namespace wheelsmith::run
