#pragma once

#include <string>

#include "choose/request.h"

// --editable builds the user's source folder in place and links it into an environment, like pip install -e. The build
// is tied to one folder, one environment and one set of files, so options that would produce several wheels of a
// package are rejected, and so are sources that are not folders.

namespace wheelsmith::choose {

// Throws RequestError if --editable lacks an option or conflicts with one.
void check_editable(const Request& request);
// Whether the package is installed in editable mode: it was requested, and its source is a folder. Its dependencies are
// built as usual.
bool is_editable(const Request& request, const std::string& package, const std::string& project);

}  // namespace wheelsmith::choose
