// `completion` prints a shell script, which calls `complete`; `help` and `man` describe the commands.

#include "report/completion.h"

#include <algorithm>

#include "base/text.h"
#include "choose/recipe.h"
#include "cli/describe.h"
#include "cli/session.h"
#include "gpu/arch.h"
#include "report/man.h"
#include "sys/files.h"
#include "wheel/check/explain.h"

namespace wheelsmith::cli {

namespace {

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return report::bash_completion();
  return shell == "zsh" ? report::zsh_completion() : report::fish_completion();
}

std::vector<std::pair<std::string, std::string>> described_recipes() {
  // Includes the user's own recipes. Completion is not the place to report errors in them or in the settings.
  std::vector<recipe::Library::File> own;
  try {
    own = choose::read_recipe_folder(recipe_folder(SettingOptions().read()));
  } catch (const std::exception&) {  // completion works without them; every other command reports it
    own.clear();
  }
  const recipe::Library library(own);
  std::vector<std::pair<std::string, std::string>> recipes;
  for (const std::string& name : library.names()) recipes.emplace_back(name, library.find(name)->summary);
  return recipes;
}

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const gpu::Device& device : gpu::known_devices()) names.push_back(device.name);
  return names;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const settings::Option& option : settings::all_options()) {
    if (option.allowed == settings::Allowed::everywhere) names.push_back(option.name);
  }
  return names;
}

}  // namespace

void add_completion(CLI::App& app, Outcome& outcome) {
  auto shell = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("completion", "Print a completion script for a shell");
  sub->footer(
      "Examples:\n"
      "  wheelsmith completion bash > ~/.local/share/bash-completion/completions/wheelsmith\n"
      "  wheelsmith completion zsh > ~/.zfunc/_wheelsmith    (with fpath+=~/.zfunc before compinit)\n"
      "  wheelsmith completion fish > ~/.config/fish/completions/wheelsmith.fish");
  sub->add_option("SHELL", *shell, "Shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([shell, &outcome] {
    outcome = [shell] {
      print(completion_script(*shell));
      return static_cast<int>(k_fine);
    };
  });

  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* complete = app.add_subcommand("complete", "Print the completions of a command line");
  complete->group("");
  complete->add_option("words", *words, "The arguments of the program, after --");
  complete->callback([words, &app, &outcome] {
    outcome = [words, &app] {
      const report::CompletionNames names{
          .recipes = described_recipes, .findings = wheel::explained_ids, .gpus = gpu_names, .settings = setting_names};
      print(report::completion_lines(report::complete(describe(app), *words, names)));
      return static_cast<int>(k_fine);
    };
  });
}

// For packages of the program (scripts/dist.sh).
void add_man(CLI::App& app, Outcome& outcome) {
  auto folder = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("man", "Write the manual pages into a folder");
  sub->group("");
  sub->add_option("DIR", *folder, "Folder to write to; created if it does not exist")->required();
  sub->callback([folder, &app, &outcome] {
    outcome = [folder, &app] {
      sys::make_folders(*folder);
      std::vector<report::DescribedCommand> commands{describe(app)};
      while (!commands.empty()) {
        const report::DescribedCommand command = std::move(commands.back());
        commands.pop_back();
        sys::write_file(std::filesystem::path(*folder) / (report::man_name(command) + ".1"),
                        report::man_page(command, WHEELSMITH_VERSION));
        commands.insert(commands.end(), command.commands.begin(), command.commands.end());
      }
      return static_cast<int>(k_fine);
    };
  });
}

void add_help(CLI::App& app, Outcome& outcome) {
  auto words = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  CLI::App* sub = app.add_subcommand("help", "Explain a command");
  sub->add_option("COMMAND", *words, "Command, such as `build` or `recipe show`; default: list all commands");
  sub->add_flag("--json", *json, "Print one JSON document (docs/json.md): the command and all below it")
      ->group("Output");
  sub->callback([words, json, &app, &outcome] {
    outcome = [words, json, &app] {
      const CLI::App* command = &app;
      for (const std::string& word : *words) {
        const auto below = command->get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
        const auto found = std::ranges::find(below, word, [](const CLI::App* one) { return one->get_name(); });
        if (found == below.end()) {
          std::vector<std::string> names;
          for (const CLI::App* one : below) names.push_back(one->get_name());
          const auto near = nearest(word, names);
          throw UsageError("unknown command " + printable(word) + (near ? "; did you mean " + *near + "?" : ""));
        }
        command = *found;
      }
      if (*json) {
        print(report::help_json(describe(*command)));
      } else {
        print_help(*command, report::HelpLength::full);
      }
      return static_cast<int>(k_fine);
    };
  });
}

}  // namespace wheelsmith::cli
