#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith {

// Named bytes: a folder on disk, the members of an archive, or a map in a test. Names are relative, with '/' between
// parts and no leading '/'. Modules that know nothing of the operating system read folders through this. All of it may
// be called from several threads.
class FileTree {
 public:
  struct File {
    std::string name;
    std::uint64_t size = 0;
    friend auto operator<=>(const File&, const File&) = default;
  };

  virtual ~FileTree() = default;

  // All regular files below, sorted by name. Links to files are files; links to folders are not followed.
  [[nodiscard]] virtual std::vector<File> files() const = 0;

  // The file's bytes, or nothing where there is no such file. Names that lead out of the tree are not there. Throws
  // Error for a file that is there and cannot be read.
  [[nodiscard]] virtual std::optional<Blob> open(const std::string& name) const = 0;

  // The file's first bytes, at most `count`; cheaper than open() where the file is packed.
  [[nodiscard]] virtual std::optional<std::string> head(const std::string& name, std::size_t count) const {
    const std::optional<Blob> blob = open(name);
    if (!blob) return std::nullopt;
    return std::string(blob->bytes.clamp(0, count).text());
  }
};

}  // namespace wheelsmith
