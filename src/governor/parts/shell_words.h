#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::governor {

using ShellVariables = std::map<std::string, std::string, std::less<>>;

// The arguments of a command line as /bin/sh reads it: quotes, backslashes and these variables. Nothing for a text in
// which a shell would do anything else (redirections, patterns, substitutions, other variables), and for open quotes.
std::optional<std::vector<std::string>> shell_words(std::string_view text, const ShellVariables& variables = {});

}  // namespace wheelsmith::governor
