// Shell completion, made from the same description of the commands that parses them, so it cannot fall behind.

#include <fmt/format.h>

#include "base/text.h"
#include "cli/command.h"

namespace wheelsmith::cli {

namespace {

struct CommandWords {
  std::string name;
  std::string help;
  std::vector<std::pair<std::string, std::string>> options;  // "--json", its help
};

std::vector<CommandWords> describe(const CLI::App& app) {
  std::vector<CommandWords> result;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandWords words{sub->get_name(), sub->get_description(), {}};
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& name : option->get_lnames())
        words.options.emplace_back("--" + name, option->get_description());
    }
    result.push_back(std::move(words));
  }
  return result;
}

std::string names_of(const std::vector<CommandWords>& commands) {
  std::string names;
  for (const CommandWords& command : commands) names += command.name + " ";
  return names;
}

std::string options_of(const CommandWords& command) {
  std::string names;
  for (const auto& [name, help] : command.options) names += name + " ";
  return names;
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  std::string cases;
  for (const CommandWords& command : commands) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, options_of(command));
  }
  return fmt::format(R"(_wheelsmith() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=""
  case ${{COMP_WORDS[1]}} in
{}    *) words="{}--help --version" ;;
  esac
  if [[ $COMP_CWORD -gt 1 && $word != -* ]]; then
    compopt -o default; COMPREPLY=()
  else
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  fi
}}
complete -F _wheelsmith wheelsmith
)",
                     cases, names_of(commands));
}

std::string shell_quoted(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + result + "'";
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  std::string list;
  std::string cases;
  for (const CommandWords& command : commands) {
    list += "    " + shell_quoted(command.name + ":" + command.help) + "\n";
    cases += fmt::format("    {}) compadd -- {}; _files ;;\n", command.name, options_of(command));
  }
  return fmt::format(R"(#compdef wheelsmith
_wheelsmith() {{
  local -a commands=(
{}  )
  if (( CURRENT == 2 )); then _describe command commands; return; fi
  case $words[2] in
{}  esac
}}
compdef _wheelsmith wheelsmith
)",
                     list, cases);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text;
  for (const CommandWords& command : commands) {
    text += fmt::format("complete -c wheelsmith -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        shell_quoted(command.help));
    for (const auto& [name, help] : command.options) {
      text += fmt::format("complete -c wheelsmith -n '__fish_seen_subcommand_from {}' -l {} -d {}\n", command.name,
                          name.substr(2), shell_quoted(help));
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, Outcome& outcome) {
  auto shell = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("completion", "Print a completion script for a shell");
  sub->footer("Example:\n  wheelsmith completion bash > ~/.local/share/bash-completion/completions/wheelsmith");
  sub->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->callback([shell, &app, &outcome] {
    outcome = [shell, &app] {
      const std::vector<CommandWords> commands = describe(app);
      print(*shell == "bash" ? bash_script(commands) : *shell == "zsh" ? zsh_script(commands) : fish_script(commands));
      return static_cast<int>(k_fine);
    };
  });
}

}  // namespace wheelsmith::cli
