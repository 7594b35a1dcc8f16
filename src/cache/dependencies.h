#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::cache {

// The prerequisites of the first rule in a compiler's -MD output, as written there, each once. Nothing for a text that
// is not a rule.
std::optional<std::vector<std::string>> read_dependencies(std::string_view text);

// Formats such a rule: "target: a.c b.h", and with `phony` an empty rule for each but the first (-MP). Targets are
// written as given.
std::string write_dependencies(std::string_view target, const std::vector<std::string>& names, bool phony);

// A name escaped for make: blanks, '#', '$'.
std::string quoted_for_make(std::string_view name);

}  // namespace wheelsmith::cache
