#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "document/value.h"

namespace wheelsmith::settings {

// The text of a settings file with one key changed, added, or removed (no value). All else stays as it is: comments,
// order, blank lines. `key` is one of `table` where that is not "". The result is parsed again and compared; a file
// that is written in a way that cannot be edited so is an Error that says to edit it by hand.
std::string edited_file(std::string_view text, std::string_view file_name, const std::string& table,
                        const std::string& key, const std::optional<document::Value>& value);

}  // namespace wheelsmith::settings
