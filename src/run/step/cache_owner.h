#pragma once

#include <string>

#include "source/source.h"

namespace wheelsmith::run {

// Which compiles may share cache entries: the subfolder of the compile cache for a step. A package's build scripts can
// submit any bytes as a compile's object, so entries belong to a project and the origin of its source; a fork has a
// different origin. The releases of a package share one.
std::string cache_owner(const std::string& project, const source::Pin& pin);

// Where a source comes from, without what differs between two releases: the version, and folders that are named by a
// digest of the file.
std::string origin_without_release(const source::Pin& pin);

}  // namespace wheelsmith::run
