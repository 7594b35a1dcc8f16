#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// A plan as jobs of a continuous integration service.
struct MatrixOptions {
  std::vector<std::string> command;  // the build of the whole plan, as arguments; each job adds --only STEP
  std::string image{};               // GitLab: of all jobs; "" for the runner's
  std::vector<std::string> setup{};  // GitLab: commands before each build
  int indent = -1;                   // GitHub: -1 for one line
};
// {"stages": [{"include": [{"step", "command", "timeout", …}]}]}: a value for strategy.matrix for each stage.
std::string to_github_matrix(const Plan& plan, const MatrixOptions& options);
// A child pipeline.
std::string to_gitlab_pipeline(const Plan& plan, const MatrixOptions& options);

// What the script and the Containerfile agree on: the variables by which a script is told that it runs elsewhere.
// "PYTHON_CP311", "SOURCE_TEXTURE".
std::string script_variable(std::string_view prefix, std::string_view name);
// A text with ${tree}, ${env}, ${toolkit}, ${store} and ${jobs} as one word of bash: all else is quoted.
std::string script_word(std::string_view text);

}  // namespace wheelsmith::plan
