#pragma once

#include <string>
#include <string_view>

#include "plan/plan.h"

// A plan in other forms: for the day when the program is not there, for an image builder, for a drawing.

namespace wheelsmith::plan {

// A plain bash script that does by hand what the plan does: the same environment, the same commands, the same wheel but
// for the tag and the provenance that only we put in.
std::string to_script(const Plan& plan);
// An image that has what the script needs, and the script run in it. `base_image` "": one that fits the plan.
std::string to_containerfile(const Plan& plan, const std::string& base_image);
// For Graphviz.
std::string to_dot(const Plan& plan);

// What the script and the Containerfile agree on: the variables by which a script is told that it runs elsewhere.
// "PYTHON_CP311", "SOURCE_TEXTURE".
std::string script_variable(std::string_view prefix, std::string_view name);
// A text with ${tree}, ${env}, ${toolkit}, ${store} and ${jobs} as one word of bash: all else is quoted.
std::string script_word(std::string_view text);

}  // namespace wheelsmith::plan
