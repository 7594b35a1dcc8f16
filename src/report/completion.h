#pragma once

#include <string>
#include <utility>
#include <vector>

// Completion scripts for shells, made from a description of the commands.

namespace wheelsmith::report {

struct DescribedCommand {
  std::string name, help;
  std::vector<std::pair<std::string, std::string>> options;  // "--json", its help
};

std::string bash_completion(const std::vector<DescribedCommand>& commands);
std::string zsh_completion(const std::vector<DescribedCommand>& commands);
std::string fish_completion(const std::vector<DescribedCommand>& commands);

}  // namespace wheelsmith::report
