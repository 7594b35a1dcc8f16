#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/help.h"

// Completion for shells. The scripts hold no knowledge of commands: they ask `wheelsmith complete` with the words of
// the command line, so that they fit every version, and know the user's own recipes.

namespace wheelsmith::report {

// Names that are not part of the commands. They are read only when one of them is completed.
struct CompletionNames {
  std::function<std::vector<std::pair<std::string, std::string>>()> recipes;  // with what they are
  std::function<std::vector<std::string>()> findings, gpus, settings;
};

struct Completion {
  std::vector<std::pair<std::string, std::string>> words;  // with what they are; "" for nothing to say
  enum class Files { none, files, folders } files = Files::none;
};

// `words` are those behind the program's name, the last one as far as it is typed.
Completion complete(const DescribedCommand& program, std::vector<std::string> words, const CompletionNames& names);
// What `wheelsmith complete` prints: a line "WORD<tab>DESCRIPTION" for each, then ":files", ":folders" or ":none".
std::string completion_lines(const Completion& completion);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace wheelsmith::report
