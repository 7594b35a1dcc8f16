#pragma once

#include <string>

#include "report/style.h"
#include "settings/settings.h"

// `config show`: each effective setting with its origin. Passwords in addresses are left out.

namespace wheelsmith::report {

std::string settings_text(const settings::Settings& settings, const Style& style);
std::string settings_json(const settings::Settings& settings);

}  // namespace wheelsmith::report
