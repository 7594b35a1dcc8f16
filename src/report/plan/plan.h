#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/plan.h"
#include "recipe/recipe.h"
#include "report/style.h"

namespace wheelsmith::report {

// {"schema":1,"steps":[{"id","package","key","cached","reason","needs",…}],"notes":[…]}; `other` is the plan of
// --compare.
std::string plan_json(const plan::Plan& plan, const plan::Plan* other = nullptr);
// The steps in order with their state, reason and forecast; then notes and totals.
// "downloads 312 MB (14 files)"
std::string download_text(const plan::DownloadForecast& download);
std::string plan_text(const plan::Plan& plan, const Style& style);
// Two plans of the same packages side by side.
std::string compare_text(const plan::Plan& plan, const plan::Plan& other, const Style& style);

// {"schema":1,"recipes":[{"name","summary","variants","targets","origin"}],"broken":[{"name","error"}]}
std::string recipes_json(const recipe::Library& library);
std::string recipes_text(const recipe::Library& library, const Style& style);
// {"schema":1,"recipe":{…}}: the recipe's own tables, with its origin.
std::string recipe_json(const recipe::Recipe& recipe);

}  // namespace wheelsmith::report
