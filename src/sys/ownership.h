#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

// Who owns a file and who else may change it.

namespace wheelsmith::sys {

struct Ownership {
  unsigned user = 0, group = 0;
  unsigned mode = 0;         // permission bits with the sticky bit
  std::uint64_t device = 0;  // the file system that it lies on

  [[nodiscard]] bool sticky() const { return (mode & 01000) != 0; }
  [[nodiscard]] bool world_writable() const { return (mode & 0002) != 0; }
};

// Of what links lead to. Nothing for what is not there or cannot be examined.
std::optional<Ownership> ownership_of(const std::filesystem::path& path);

// A file's text and its ownership, both of the same open file: nobody can exchange it in between. Throws Error.
struct OwnedText {
  std::string text;
  Ownership ownership;
};
OwnedText read_owned_file(const std::filesystem::path& path, std::uint64_t limit);

unsigned current_user();

}  // namespace wheelsmith::sys
