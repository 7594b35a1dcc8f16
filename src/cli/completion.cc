// Shell completion, made from the same description of the commands that parses them, so it cannot fall behind.

#include "report/completion.h"

#include "cli/command.h"

namespace wheelsmith::cli {

namespace {

std::vector<report::DescribedCommand> describe(const CLI::App& app) {
  std::vector<report::DescribedCommand> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    report::DescribedCommand command{sub->get_name(), sub->get_description(), {}};
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames())
        command.options.emplace_back("--" + name, option->get_description());
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

std::string completion_script(const std::string& shell, const std::vector<report::DescribedCommand>& commands) {
  if (shell == "bash") return report::bash_completion(commands);
  return shell == "zsh" ? report::zsh_completion(commands) : report::fish_completion(commands);
}

}  // namespace

void add_completion(CLI::App& app, Outcome& outcome) {
  auto shell = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("completion", "Print a completion script for a shell");
  sub->footer("Example:\n  wheelsmith completion bash > ~/.local/share/bash-completion/completions/wheelsmith");
  sub->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([shell, &app, &outcome] {
    outcome = [shell, &app] {
      print(completion_script(*shell, describe(app)));
      return static_cast<int>(k_fine);
    };
  });
}

}  // namespace wheelsmith::cli
