#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"

// Parts that the documents and texts of all commands have in common.

namespace wheelsmith::report {

// {"schema": 1}: every document of docs/json.md begins so.
document::Table new_document();
// As it is printed: two spaces of indent, and a line end.
std::string document_text(const document::Table& document);
document::Array text_array(const std::vector<std::string>& texts);

}  // namespace wheelsmith::report
