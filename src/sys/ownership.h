#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// A file's owner and permissions.

namespace wheelsmith::sys {

struct Ownership {
  unsigned user = 0, group = 0;
  unsigned mode = 0;         // permission bits with the sticky bit
  std::uint64_t device = 0;  // its file system

  [[nodiscard]] bool sticky() const { return (mode & 01000) != 0; }
  [[nodiscard]] bool world_writable() const { return (mode & 0002) != 0; }
};

// Links are followed. Nothing for a path that does not exist or cannot be examined.
std::optional<Ownership> ownership_of(const std::filesystem::path& path);

// A file's text and its ownership, both from the same open file: it cannot be replaced in between. Throws Error.
struct OwnedText {
  std::string text;
  Ownership ownership;
};
OwnedText read_owned_file(const std::filesystem::path& path, std::uint64_t limit);

unsigned current_user();

}  // namespace wheelsmith::sys
