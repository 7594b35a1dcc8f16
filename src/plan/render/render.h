#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

// What the script and the Containerfile agree on: the variables by which a script is told that it runs elsewhere.

namespace wheelsmith::plan {

// "PYTHON_CP311", "SOURCE_TEXTURE".
std::string script_variable(std::string_view prefix, std::string_view name);

// A text with ${tree}, ${env}, ${toolkit}, ${store} and ${jobs} as one word of bash: all else is quoted.
std::string script_word(std::string_view text);

}  // namespace wheelsmith::plan
