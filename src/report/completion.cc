#include "report/completion.h"

#include <fmt/format.h>

#include <string_view>

namespace wheelsmith::report {

namespace {

std::string command_names(const std::vector<DescribedCommand>& commands) {
  std::string names;
  for (const DescribedCommand& command : commands) names += command.name + " ";
  return names;
}

std::string option_names(const DescribedCommand& command) {
  std::string names;
  for (const auto& [name, help] : command.options) names += name + " ";
  return names;
}

std::string single_quoted(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + result + "'";
}

}  // namespace

std::string bash_completion(const std::vector<DescribedCommand>& commands) {
  std::string cases;
  for (const DescribedCommand& command : commands) {
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, option_names(command));
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
                     cases, command_names(commands));
}

std::string zsh_completion(const std::vector<DescribedCommand>& commands) {
  std::string list;
  std::string cases;
  for (const DescribedCommand& command : commands) {
    list += "    " + single_quoted(command.name + ":" + command.help) + "\n";
    cases += fmt::format("    {}) compadd -- {}; _files ;;\n", command.name, option_names(command));
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

std::string fish_completion(const std::vector<DescribedCommand>& commands) {
  std::string text;
  for (const DescribedCommand& command : commands) {
    text += fmt::format("complete -c wheelsmith -n __fish_use_subcommand -f -a {} -d {}\n", command.name,
                        single_quoted(command.help));
    for (const auto& [name, help] : command.options) {
      text += fmt::format("complete -c wheelsmith -n '__fish_seen_subcommand_from {}' -l {} -d {}\n", command.name,
                          name.substr(2), single_quoted(help));
    }
  }
  return text;
}

}  // namespace wheelsmith::report
