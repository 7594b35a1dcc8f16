#pragma once

#include <string>
#include <vector>

#include "report/style.h"
#include "settings/settings.h"

// `config show`: each effective setting with its origin. Passwords in addresses are left out.

namespace wheelsmith::report {

std::string settings_text(const settings::Settings& settings, const Style& style);
std::string settings_json(const settings::Settings& settings);

// What a project's file sets that needs trust: a line for each, indented. The file is hostile text: values are cut.
std::string risky_options_text(const std::vector<settings::Settings::RiskyOption>& options);

}  // namespace wheelsmith::report
