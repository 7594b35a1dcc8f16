#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

// A plan in other forms: a bash script, a Containerfile, a Graphviz graph.

namespace wheelsmith::plan {

// A plain bash script equivalent to the plan: the same environment, the same commands, and the same wheel except for
// the platform tag and the provenance, which only wheelsmith adds.
std::string to_script(const Plan& plan);
// A Containerfile: an image with everything that the script needs, and the script run in it. `base_image` "": chosen by
// the plan.
std::string to_containerfile(const Plan& plan, const std::string& base_image);
// For Graphviz.
std::string to_dot(const Plan& plan);

// A plan as jobs of a continuous integration service.
struct MatrixOptions {
  std::vector<std::string> command;  // the build of the whole plan, as arguments; each job adds --only STEP
  std::string image{};               // GitLab: image of all jobs; "": the runner's default
  std::vector<std::string> setup{};  // GitLab: commands before each build
  int indent = -1;                   // GitHub: -1 for one line
};
// {"stages": [{"include": [{"step", "command", "timeout", …}]}]}: one value for strategy.matrix per stage.
std::string to_github_matrix(const Plan& plan, const MatrixOptions& options);
// A child pipeline.
std::string to_gitlab_pipeline(const Plan& plan, const MatrixOptions& options);

// Names of variables that the script reads and the Containerfile sets, because the script runs elsewhere there:
// "PYTHON_CP311", "SOURCE_TEXTURE".
std::string script_variable(std::string_view prefix, std::string_view name);
// Quotes a text as one bash word, except for ${tree}, ${env}, ${toolkit}, ${store} and ${jobs}.
std::string script_word(std::string_view text);

}  // namespace wheelsmith::plan
