#include <fmt/format.h>

#include "choose/recipe.h"
#include "choose/source.h"
#include "plan/described.h"
#include "plan/sources.h"

namespace wheelsmith::plan {

namespace {

using document::Array;
using document::Table;

// The folder relative to the recipe's file; it must be below it.
std::optional<std::string> relative_folder(const std::filesystem::path& folder, const std::filesystem::path& recipes) {
  const std::filesystem::path base = std::filesystem::absolute(recipes.empty() ? "." : recipes).lexically_normal();
  const std::string relative = folder.lexically_relative(base).string();
  if (relative.empty() || relative == "." || relative.starts_with("..")) return std::nullopt;
  return relative;
}

void set_source(recipe::Recipe& recipe, const source::Pin& pin, const PlanInputs& inputs) {
  Table source;
  std::string assumption;
  if (pin.kind == source::Pin::Kind::git) {
    source["git"] = fetch::without_credentials(pin.git_url);
    source["ref"] = pin.git_commit;
  } else if (pin.kind == source::Pin::Kind::folder) {
    if (const auto folder = relative_folder(pin.folder, inputs.recipe_folder)) {
      source["folder"] = *folder;
    } else {
      source["sdist"] = recipe.project;
      assumption = fmt::format(
          "The source is the sdist from the package index; to build from the folder, add --source {}=FOLDER.",
          recipe.name);
    }
  } else {
    return;
  }
  recipe.document["source"] = std::move(source);
  if (assumption.empty()) return;
  recipe.assumptions.push_back(assumption);
  recipe.document["assumptions"] = Array(recipe.assumptions.begin(), recipe.assumptions.end());
}

}  // namespace

recipe::Recipe infer_recipe(const std::string& package, const choose::Request& request, const PlanInputs& inputs,
                            const toolchain::Python& python) {
  const source::Pin pin =
      pin_source(choose::unknown_recipe(package), choose::source_override(request, package, package), inputs,
                 pin_options(request, inputs, python));
  recipe::Recipe recipe = choose::inferred_recipe(package, pin, remembered_facts(pin, "", inputs));
  recipe.document["name"] = recipe.name;
  set_source(recipe, pin, inputs);
  return recipe;
}

}  // namespace wheelsmith::plan
