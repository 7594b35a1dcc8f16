// `recipes`, `recipe show` and `recipe init`.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/python.h"
#include "choose/recipe.h"
#include "choose/targets.h"
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
      fmt::format("unknown recipe {}{} `wheelsmith recipes` lists all, `wheelsmith recipe init {}` writes one",
                  printable(name), near ? "; did you mean " + *near + "?" : ";", printable(name)));
}

int list_recipes(const RecipeCommand& command) {
  const recipe::Library library(choose::read_recipe_folder(recipe_folder(command.settings.read())));
  print(command.output.json ? report::recipes_json(library) : report::recipes_text(library, command.output.style()));
  return library.broken().empty() ? k_fine : k_not_fine;
}

int show_recipe(const RecipeCommand& command) {
  const recipe::Library library(choose::read_recipe_folder(recipe_folder(command.settings.read())));
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

// The default is the folder that `build` searches.
std::filesystem::path file_for(const RecipeCommand& command, const std::string& name,
                               const settings::Settings& settings) {
  if (!command.into.empty()) return command.into;
  const std::string named = settings.text("recipes");
  const std::filesystem::path folder = named.empty() ? own_recipe_folder() : std::filesystem::path(named);
  if (folder.empty()) throw UsageError("neither XDG_CONFIG_HOME nor HOME is set; give a file with --into FILE");
  return folder / (name + ".toml");
}

// The command to type next. It has --recipes if `build` does not search the folder of the file, and repeats a source
// that is not a package name.
std::string next_command(const RecipeCommand& command, const std::string& package, const std::filesystem::path& file,
                         const settings::Settings& settings) {
  std::error_code ignored;
  const settings::Held* named = settings.find("recipes");
  const std::filesystem::path used = recipe_folder(settings);
  const std::filesystem::path folder = file.parent_path().empty() ? "." : file.parent_path();
  const bool found = !used.empty() && std::filesystem::equivalent(used, folder, ignored) &&
                     (named == nullptr || named->origin != "--recipes");
  std::string next =
      "wheelsmith build " + (choose::names_a_place(command.name) ? sys::shell_quoted(command.name) : package);
  if (!found) next += " --recipes " + sys::shell_quoted(folder.string());
  return fmt::format("next: {}\n", printable(next));
}

int init(const RecipeCommand& command) {
  const settings::Settings settings = command.settings.read({command.name});
  const bool to_output = command.into == "-";
  Session session(settings);
  const choose::Request request = session.build_request();
  const std::string& package = request.packages.front();
  // Checked first, because the source may be a long download.
  const std::filesystem::path file = to_output ? "-" : file_for(command, package, settings);
  std::error_code ignored;
  if (!to_output && std::filesystem::exists(std::filesystem::symlink_status(file, ignored)))
    throw UsageError(
        fmt::format("{} already exists and was not changed\n  fix: --into FILE writes another file, --into "
                    "- prints the recipe",
                    printable(file.string())));
  const plan::PlanInputs inputs = session.inputs();
  const recipe::Recipe made =
      plan::infer_recipe(package, request, inputs, choose::choose_pythons(request, inputs.host).front());
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
  print(said + next_command(command, package, file, settings));
  return k_fine;
}

}  // namespace

void add_recipes(CLI::App& app, Outcome& outcome) {
  auto command = std::make_shared<RecipeCommand>();
  CLI::App* sub = app.add_subcommand("recipes", "List the recipes");
  sub->footer(
      "Packages without a recipe can be built, too, if the package index has an sdist: wheelsmith infers a recipe from "
      "the source.");
  command->settings.add_to(*sub, {"recipes"});
  command->output.add_to(*sub);
  sub->callback([command, &outcome] { outcome = [command] { return list_recipes(*command); }; });
}

void add_recipe(CLI::App& app, Outcome& outcome) {
  CLI::App* sub = app.add_subcommand("recipe", "Show or write a recipe");
  sub->require_subcommand(1);
  sub->footer(
      "Examples:\n"
      "  wheelsmith recipe show texture\n"
      "  wheelsmith recipe init torch-scatter\n"
      "  wheelsmith recipe init . --into -");

  auto shown = std::make_shared<RecipeCommand>();
  CLI::App* show_command = sub->add_subcommand("show", "Print a recipe as TOML, including the recipes that it extends");
  show_command->add_option("RECIPE", shown->name, "Name of the recipe")->required();
  shown->settings.add_to(*show_command, {"recipes"});
  shown->output.add_to(*show_command);
  show_command->callback([shown, &outcome] { outcome = [shown] { return show_recipe(*shown); }; });

  auto made = std::make_shared<RecipeCommand>();
  CLI::App* init_command =
      sub->add_subcommand("init", "Infer the recipe of a package and write it to a file for editing");
  init_command->add_option("PACKAGE", made->name, "Package name, folder, archive, or git+URL@REF")->required();
  init_command
      ->add_option("--into", made->into,
                   "File to write, or - for standard output; default: NAME.toml in the recipes folder")
      ->type_name("FILE");
  made->settings.add_to(*init_command, {"recipes", "source", "python", "store", "offline", "mirrors"});
  init_command->callback([made, &outcome] { outcome = [made] { return init(*made); }; });
}

}  // namespace wheelsmith::cli
