#pragma once

#include <optional>
#include <string_view>

#include "document/value.h"

namespace wheelsmith::document {

// The result of parse_toml() for a document of the simple kind that most are: [name] and [[name]] headers, bare
// keys, strings, whole numbers, booleans and lists of these. Many times faster than toml++. Nothing for all others,
// also invalid ones: toml++ reads them, and reports what is wrong.
std::optional<Table> read_plain_toml(std::string_view text);

// parse_toml() by toml++ alone, to compare with.
Table parse_toml_by_library(std::string_view text, std::string_view file_name);

}  // namespace wheelsmith::document
