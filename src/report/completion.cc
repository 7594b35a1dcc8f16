#include "report/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace wheelsmith::report {

namespace {

bool is_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

const DescribedOption* option_of(const DescribedCommand& command, std::string_view word) {
  for (const DescribedOption& option : command.options) {
    if (option.name == word || (!option.shorter.empty() && option.shorter == word)) return &option;
  }
  return nullptr;
}

const DescribedCommand* command_of(const DescribedCommand& command, std::string_view word) {
  for (const DescribedCommand& one : command.commands) {
    if (one.name == word) return &one;
  }
  return nullptr;
}

void add_all(Completion& completion, const std::vector<std::string>& words) {
  for (const std::string& word : words) completion.words.emplace_back(word, "");
}

void add_commands(Completion& completion, const DescribedCommand& command) {
  for (const DescribedCommand& one : command.commands) completion.words.emplace_back(one.name, one.summary);
}

bool is_any_of(const std::string& word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The completions of an argument: its choices, else derived from its name in the help.
Completion values_of(const DescribedOption& option, const DescribedCommand& program, const CompletionNames& names) {
  const std::string argument = option.argument.empty() ? option.name : option.argument;
  Completion completion;
  if (!option.choices.empty()) {
    add_all(completion, option.choices);
  } else if (option.name == "--gpu") {
    add_all(completion, names.gpus());
  } else if (argument == "ID") {
    add_all(completion, names.findings());
  } else if (argument == "SETTING") {
    add_all(completion, names.settings());
  } else if (argument == "COMMAND") {
    add_commands(completion, program);
  } else if (is_any_of(argument, {"RECIPE", "PACKAGE"})) {
    completion.words = names.recipes();
    if (argument == "PACKAGE") completion.files = Completion::Files::files;
  } else if (argument == "DIR") {
    completion.files = Completion::Files::folders;
  } else if (is_any_of(argument, {"FILE", "PATH", "WHEEL", "LOG", "PROGRAM", "BUILD", "ORIGINAL", "EDITED", "ARG"}) ||
             argument.find("PLACE") != std::string::npos) {
    completion.files = Completion::Files::files;
  }
  return completion;
}

// In a comma-separated list, completes the part after the last comma.
void keep_matches(Completion& completion, const std::string& typed, bool list) {
  const std::size_t comma = list ? typed.rfind(',') : std::string::npos;
  const std::string done = comma == std::string::npos ? "" : typed.substr(0, comma + 1);
  for (auto& [word, text] : completion.words) word = done + word;
  std::erase_if(completion.words, [&](const auto& word) { return !word.first.starts_with(typed); });
}

Completion finished(Completion completion, const std::string& typed, bool list) {
  keep_matches(completion, typed, list);
  return completion;
}

// bash splits "--variant=cu" into three words.
void join_equals(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] != "=" || !is_option(words[i - 1])) continue;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    if (i == words.size()) words.emplace_back();
  }
}

}  // namespace

Completion complete(const DescribedCommand& program, std::vector<std::string> words, const CompletionNames& names) {
  join_equals(words);
  if (words.empty()) words.emplace_back();
  const std::string typed = words.back();
  words.pop_back();
  const DescribedCommand* command = &program;
  const DescribedOption* waiting = nullptr;
  std::size_t arguments = 0;
  for (const std::string& word : words) {
    if (word == "--" && waiting == nullptr) return {{}, Completion::Files::files};  // another program's command line
    if (waiting != nullptr) {
      waiting = nullptr;
    } else if (is_option(word)) {
      const DescribedOption* option = option_of(*command, word);
      if (option != nullptr && !option->argument.empty()) waiting = option;
    } else if (const DescribedCommand* below = arguments == 0 ? command_of(*command, word) : nullptr) {
      command = below;
    } else {
      ++arguments;
    }
  }
  if (waiting != nullptr) return finished(values_of(*waiting, program, names), typed, waiting->repeatable);
  if (const std::size_t equals = typed.find('='); is_option(typed) && equals != std::string::npos) {
    const DescribedOption* option = option_of(*command, typed.substr(0, equals));
    if (option == nullptr) return {};
    Completion values = finished(values_of(*option, program, names), typed.substr(equals + 1), option->repeatable);
    for (auto& [word, text] : values.words) word = typed.substr(0, equals + 1) + word;
    return values;
  }
  if (typed.starts_with('-')) {
    Completion completion;
    for (const DescribedOption& option : command->options) completion.words.emplace_back(option.name, option.text);
    return finished(std::move(completion), typed, false);
  }
  if (!command->commands.empty() && arguments == 0) {
    Completion completion;
    add_commands(completion, *command);
    return finished(std::move(completion), typed, false);
  }
  if (command->arguments.empty()) return {};
  const std::size_t place = std::min(arguments, command->arguments.size() - 1);
  if (arguments > place && !command->arguments[place].repeatable) return {};
  return finished(values_of(command->arguments[place], program, names), typed, false);
}

std::string completion_lines(const Completion& completion) {
  std::string text;
  for (const auto& [word, description] : completion.words)
    text += description.empty() ? word + "\n" : word + "\t" + description + "\n";
  switch (completion.files) {
    case Completion::Files::files: return text + ":files\n";
    case Completion::Files::folders: return text + ":folders\n";
    case Completion::Files::none: break;
  }
  return text + ":none\n";
}

std::string bash_completion() {
  return R"(# bash completion for wheelsmith
_wheelsmith() {
  local line word=${COMP_WORDS[COMP_CWORD]} answer=()
  COMPREPLY=()
  mapfile -t answer < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  for line in "${answer[@]}"; do
    case $line in
      :files) compopt -o default 2>/dev/null; COMPREPLY+=($(compgen -f -- "$word")) ;;
      :folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$word")) ;;
      :none) ;;
      *) line=${line%%$'\t'*}; [[ $line != *' '* ]] || printf -v line %q "$line"; COMPREPLY+=("$line") ;;
    esac
  done
}
complete -F _wheelsmith wheelsmith
)";
}

std::string zsh_completion() {
  return R"(#compdef wheelsmith
_wheelsmith() {
  local line files=none
  local -a answer described
  answer=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $answer; do
    case $line in
      :*) files=${line#:} ;;
      *) described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
    esac
  done
  (( $#described )) && _describe -V wheelsmith described
  case $files in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
if [[ $funcstack[1] == _wheelsmith ]]; then _wheelsmith "$@"; else compdef _wheelsmith wheelsmith; fi
)";
}

std::string fish_completion() {
  return R"(# fish completion for wheelsmith
function __wheelsmith_complete
    set -l typed (commandline -opc)
    set -l answer ($typed[1] complete -- $typed[2..-1] (commandline -ct) 2>/dev/null)
    for line in $answer
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct)
            case ':none'
            case '*'
                echo $line
        end
    end
end
complete -c wheelsmith -f -a '(__wheelsmith_complete)'
)";
}

}  // namespace wheelsmith::report
