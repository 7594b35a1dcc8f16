#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/help.h"

// Shell completion. The scripts contain no list of commands: they call `wheelsmith complete` with the command line, so
// they work with every version and know the user's own recipes.

namespace wheelsmith::report {

// Names that are not commands or options. They are read only when one of them is completed.
struct CompletionNames {
  std::function<std::vector<std::pair<std::string, std::string>>()> recipes;  // name and summary
  std::function<std::vector<std::string>()> findings, gpus, settings;
};

struct Completion {
  std::vector<std::pair<std::string, std::string>> words;  // word and description; "" for no description
  enum class Files { none, files, folders } files = Files::none;
};

// `words` are the arguments after the program name; the last one may be incomplete.
Completion complete(const DescribedCommand& program, std::vector<std::string> words, const CompletionNames& names);
// The output of `wheelsmith complete`: a line "WORD<tab>DESCRIPTION" for each, then ":files", ":folders" or ":none".
std::string completion_lines(const Completion& completion);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace wheelsmith::report
