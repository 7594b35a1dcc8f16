#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/file_tree.h"

namespace wheelsmith::source {

// What a source says of itself.
struct Identity {
  std::string name, version;  // "" where it does not say
};
// From PKG-INFO, else from the static part of pyproject.toml. What cannot be read says nothing.
Identity identity_of(const FileTree& source);

// Throws Error when the version in the file's name and the one inside differ; both are named.
void check_version(std::string_view file_name, std::string_view in_name, std::string_view inside);

}  // namespace wheelsmith::source
