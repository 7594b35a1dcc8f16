#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace wheelsmith::surgery {

// Decides about one field of METADATA. Nothing: keep it as written; "": leave it out; else the new value.
using FieldEdit = std::function<std::optional<std::string>(std::string_view field, std::string_view value)>;

// METADATA with some fields changed. `field` is in lower case; `value` has its continuation lines joined by blanks.
// Everything else, including the body, keeps its bytes.
std::string edit_metadata_text(std::string_view text, const FieldEdit& edit);

}  // namespace wheelsmith::surgery
