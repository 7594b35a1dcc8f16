#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace wheelsmith::surgery {

// What becomes of one field of METADATA. Nothing: it stays as it is written; "": it is left out; else the new value.
using FieldEdit = std::function<std::optional<std::string>(std::string_view field, std::string_view value)>;

// METADATA with some fields changed. `field` is in lower case; `value` has its continuation lines joined by blanks. All
// else, the body included, keeps its bytes.
std::string edit_metadata_text(std::string_view text, const FieldEdit& edit);

}  // namespace wheelsmith::surgery
