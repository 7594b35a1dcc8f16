#pragma once

#include <string>

#include "choose/request.h"

// --editable: a folder that the user works on is built in place and linked into an environment, where pip install -e
// would put it. That binds the build to one folder, one environment and one set of files, so what makes several wheels
// of one package, or none in a folder, is refused.

namespace wheelsmith::choose {

// Throws RequestError that says what --editable needs or does not go with.
void check_editable(const Request& request);
// Whether the package is installed in editable mode: it was named, and its source is a folder. What such a package
// needs is built as usual.
bool is_editable(const Request& request, const std::string& package, const std::string& project);

}  // namespace wheelsmith::choose
