#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "document/value.h"

namespace wheelsmith::settings {

// Returns the text of a settings file with one key changed, added, or removed (no value). Comments, order and blank
// lines are kept. `key` is in `table` unless that is "". The result is parsed and compared with the expected values; if
// they differ, throws an Error that tells the user to edit the file by hand.
std::string edited_file(std::string_view text, std::string_view file_name, const std::string& table,
                        const std::string& key, const std::optional<document::Value>& value);

}  // namespace wheelsmith::settings
