// What can be built, and how: recipes, recipe show, recipe init.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/python.h"
#include "choose/recipe.h"
#include "cli/session.h"
#include "plan/sources.h"
#include "report/plan/plan.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::cli {

namespace {

struct RecipeCommand {
  OutputOptions output;
  SettingOptions settings;
  std::string name, into;
};

[[noreturn]] void no_such_recipe(const std::string& name, const recipe::Library& library) {
  const std::vector<std::string> names = library.names();
  const auto near = nearest(name, names);
  throw UsageError(
      fmt::format("there is no recipe {}{}; `wheelsmith recipes` lists them, `wheelsmith recipe init {}` makes one up",
                  printable(name), near ? ", did you mean " + *near + "?" : "", printable(name)));
}

int list_recipes(const RecipeCommand& command) {
  const recipe::Library library(choose::read_recipe_folder(command.settings.read().text("recipes")));
  print(command.output.json ? report::recipes_json(library) : report::recipes_text(library, command.output.style()));
  return library.broken().empty() ? k_fine : k_not_fine;
}

int show_recipe(const RecipeCommand& command) {
  const recipe::Library library(choose::read_recipe_folder(command.settings.read().text("recipes")));
  const recipe::Recipe* recipe = library.find(command.name);
  if (recipe == nullptr) {
    for (const auto& [name, error] : library.broken()) {
      if (name == command.name || std::filesystem::path(name).stem() == command.name)
        throw UsageError(printable(error));
    }
    no_such_recipe(command.name, library);
  }
  print(command.output.json ? report::recipe_json(*recipe) : recipe->to_toml());
  return k_fine;
}

std::filesystem::path file_for(const RecipeCommand& command, const std::string& name,
                               const settings::Settings& settings) {
  if (!command.into.empty()) return command.into;
  const std::filesystem::path folder = settings.text("recipes");
  return folder / (name + ".toml");
}

int init(const RecipeCommand& command) {
  const settings::Settings settings = command.settings.read({command.name});
  const bool to_output = command.into == "-";
  // Looked at first: the source may be a long download.
  const std::filesystem::path file = file_for(command, command.name, settings);
  std::error_code ignored;
  if (!to_output && std::filesystem::exists(std::filesystem::symlink_status(file, ignored)))
    throw UsageError(
        fmt::format("{} is there already, and stays as it is; --into FILE names another, --into - prints it",
                    printable(file.string())));
  Session session(settings);
  const choose::Request request = session.request();
  const plan::PlanInputs inputs = session.inputs();
  const recipe::Recipe made =
      plan::infer_recipe(command.name, request, inputs, choose::choose_pythons(request, inputs.host).front());
  const std::string text = made.to_toml();
  (void)recipe::parse_recipe(text, file.string());
  if (to_output) {
    print(text);
    return k_fine;
  }
  if (!file.parent_path().empty()) sys::make_folders(file.parent_path());
  sys::write_file(file, text);
  std::string said = fmt::format("wrote {}\n", printable(file.string()));
  for (const std::string& assumption : made.assumptions) said += fmt::format("  assumed: {}\n", printable(assumption));
  print(said);
  return k_fine;
}

}  // namespace

void add_recipes(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<RecipeCommand>();
  CLI::App* sub = app.add_subcommand("recipes", "List what can be built");
  sub->footer(
      "Anything else of the registry that has an sdist can be built too: a recipe is inferred from its source.");
  command->settings.add_to(*sub, {"recipes"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return list_recipes(*command); }; });
}

void add_recipe(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("recipe", "Show a recipe, or make one up");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith recipe show texture\n"
      "  wheelsmith recipe init torch-scatter --recipes recipes\n"
      "  wheelsmith recipe init mypackage --source . --into -");

  auto shown = std::make_shared<RecipeCommand>();
  CLI::App* show_command = sub->add_subcommand("show", "Print a recipe as TOML, with all that it extends");
  show_command->add_option("NAME", shown->name, "Recipe")->required();
  shown->settings.add_to(*show_command, {"recipes"});
  shown->output.add_to(*show_command);
  show_command->callback([shown, &outcome] { outcome = [shown] { return show_recipe(*shown); }; });

  auto made = std::make_shared<RecipeCommand>();
  CLI::App* init_command = sub->add_subcommand("init", "Write the recipe that would be inferred for a package");
  init_command->add_option("NAME", made->name, "Project of the registry, or any name together with --source")
      ->required();
  init_command->add_option("--into", made->into,
                           "File to write, or - for standard output; default: NAME.toml in the recipes folder");
  made->settings.add_to(*init_command, {"recipes", "source", "python", "store", "offline", "mirrors"});
  init_command->callback([made, &outcome] { outcome = [made] { return init(*made); }; });
}

}  // namespace wheelsmith::cli
