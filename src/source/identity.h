#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file_tree.h"

namespace wheelsmith::source {

// A source's own metadata.
struct Identity {
  std::string name, version;  // "" if unknown
};
// From PKG-INFO, otherwise from the static part of pyproject.toml. Unreadable files are ignored.
Identity identity_of(const FileTree& source);

// Throws Error when the version in the file name differs from the one inside; both are named.
void check_version(std::string_view file_name, std::string_view in_name, std::string_view inside);

}  // namespace wheelsmith::source
