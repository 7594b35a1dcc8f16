#pragma once

#include <string>

#include "choose/request.h"
#include "settings/settings.h"

// Settings as a request: what a text means is decided here, whether it came from the command line, a file or the
// environment.

namespace wheelsmith::choose {

// Throws RequestError for a value that means nothing.
Request read_request(const settings::Settings& settings);

// The same for commands that plan: throws also where no package is named, and for a platform tag that does not exist.
// Whether a wheel built here can have an existing tag is for doctor to say.
Request read_build_request(const settings::Settings& settings);

// "==7.10.0" of "7.10.0"; specifiers stay as they are. Throws RequestError that names the option.
std::string version_specifiers(const std::string& option, const std::string& text);

}  // namespace wheelsmith::choose
