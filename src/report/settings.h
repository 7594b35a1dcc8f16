#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "settings/settings.h"

// `config show`: each effective setting with its origin. Passwords in URLs are omitted.

namespace wheelsmith::report {

std::string settings_text(const settings::Settings& settings, const Style& style);
std::string settings_json(const settings::Settings& settings);

// The options of a project file that need trust, one indented line each. The file is untrusted input, so values are
// truncated.
std::string risky_options_text(const std::vector<settings::Settings::RiskyOption>& options);

}  // namespace wheelsmith::report
