#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnose.h"

namespace wheelsmith::diagnose {

// "{name}" and "{name|otherwise}" replaced by what is known; nothing when a name without otherwise is not known. Values
// from a log are made printable and short, because they are shown on a terminal and in commands that users paste.
std::optional<std::string> filled_in(std::string_view text, const std::vector<const Values*>& known);

// {archs} and {archs.known}: the architectures that a compiler's command names, and those of them that remain without
// the refused one (a text that names it, or "") and without those that nvcc does not know (`known` empty: unknown).
Values arch_values(std::string_view command, std::string_view refused, const std::vector<std::string>& known);

}  // namespace wheelsmith::diagnose
