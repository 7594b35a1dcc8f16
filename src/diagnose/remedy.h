#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"

namespace wheelsmith::diagnose {

// "{name}" and "{name|otherwise}" replaced by what is known; nothing when a name without otherwise is not known. What a
// log gave is made printable and short: it ends up on a terminal, and in commands that people paste.
std::optional<std::string> filled_in(std::string_view text, const std::vector<const Values*>& known);

// {archs} and {archs.known}: the architectures of a compiler's command or of a list in the log, and those of them that
// this nvcc knows, where the log tells its version.
Values arch_values(std::string_view command, const Values& facts, const Values& groups, const Values& machine);

}  // namespace wheelsmith::diagnose
