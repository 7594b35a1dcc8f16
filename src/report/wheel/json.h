#pragma once

#include <string>
#include <vector>

#include "wheel/check/check.h"
#include "wheel/read/inspect.h"

// The JSON contract (docs/json.md): one document, "schema": 1, invalid UTF-8 replaced.

namespace wheelsmith::report {

std::string to_json(const std::vector<wheel::Inspection>& items);
std::string to_json(const std::vector<wheel::Verdict>& items);
// The document of `check --explain`.
std::string explanation_json(const std::string& id, const std::string& text);
// The document of a command that failed before it had any items.
// `list` is the name of the list that the command's document has, empty here.
std::string error_json(const std::string& message, const std::string& list = "items");

}  // namespace wheelsmith::report
