#pragma once

#include <string>

#include "choose/request.h"
#include "settings/settings.h"

// Converts settings to a request. Values are parsed here, whether they come from the command line, a file or the
// environment.

namespace wheelsmith::choose {

// Throws RequestError for an invalid value.
Request read_request(const settings::Settings& settings);

// The same for commands that plan: also throws if no package is given, or for a platform tag that does not exist.
// `doctor` reports whether a wheel built here can have the tag.
Request read_build_request(const settings::Settings& settings);

// Converts "7.10.0" to "==7.10.0"; keeps specifiers. Throws RequestError that names the option.
std::string version_specifiers(const std::string& option, const std::string& text);

}  // namespace wheelsmith::choose
