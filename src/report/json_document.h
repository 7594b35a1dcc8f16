#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

// Helpers shared by the JSON documents and texts of all commands.

namespace wheelsmith::report {

// {"schema": 1}, the start of every document in docs/json.md.
document::Table new_document();
// The printed form: indented by two spaces, with a newline at the end.
std::string document_text(const document::Table& document);
document::Array text_array(const std::vector<std::string>& texts);

}  // namespace wheelsmith::report
