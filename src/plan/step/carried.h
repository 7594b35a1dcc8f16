#pragma once

#include <string>

#include "plan/step/spec.h"

// A step's specification as its wheel carries it, for those who rebuild it elsewhere: what decides the result, without
// what belongs to one machine (paths, addresses, numbers of jobs) and without values that may be secret. Whatever
// stands in it follows from the key's inputs or stands in the provenance already, so that wheels of equal keys stay
// equal.

namespace wheelsmith::plan {

// In place of a folder of the machine: "it came from here, and its place does not matter".
inline constexpr std::string_view k_of_machine = "(machine)";

// The file of the wheel: dist-info/wheelsmith/build.json.
document::Value carried_value(const BuildSpec& spec);

// The specification again, from a wheel, which is hostile: throws Error for what is not one. A document of an older
// version may lack members. Paths, addresses and hidden variables are to be filled in.
BuildSpec read_carried(const document::Value& value, const std::string& recipe_text);

// Variables whose values the wheel does not carry.
std::vector<std::string> hidden_variables(const BuildSpec& spec);

}  // namespace wheelsmith::plan
