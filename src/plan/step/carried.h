#pragma once

#include <string>

#include "plan/step/spec.h"

// The specification of a step as stored in its wheel, for rebuilding it elsewhere. It contains what determines the
// result, without data of one machine (paths, local URLs, number of jobs) and without possible secrets. Everything in
// it follows from the key's inputs or the provenance, so that wheels with equal keys stay equal.

namespace wheelsmith::plan {

// Placeholder for a folder of the machine whose path does not matter.
inline constexpr std::string_view k_of_machine = "(machine)";

// The file of the wheel: dist-info/wheelsmith/build.json.
document::Value carried_value(const BuildSpec& spec);

// Parses the specification in an untrusted wheel. Throws Error if it is invalid. A document of an older version may
// lack members. The caller fills in paths, URLs and hidden variables.
BuildSpec read_carried(const document::Value& value, const std::string& recipe_text);

// Variables whose values are not in the wheel.
std::vector<std::string> hidden_variables(const BuildSpec& spec);

}  // namespace wheelsmith::plan
