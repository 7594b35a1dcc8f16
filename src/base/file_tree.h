#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith {

// Named bytes: a folder on disk, the members of an archive, or a map in a test. Names are relative, with '/' between
// parts and no leading '/'. Modules that know nothing of the operating system read folders through this.
class FileTree {
 public:
  virtual ~FileTree() = default;

  // All regular files below, sorted by name. Links to files are files; links to folders are not followed.
  [[nodiscard]] virtual std::vector<std::string> names() const = 0;

  // The file's bytes, or nothing where there is no such readable file. Names that lead out of the tree are not there.
  [[nodiscard]] virtual std::optional<Blob> open(const std::string& name) const = 0;
};

}  // namespace wheelsmith
