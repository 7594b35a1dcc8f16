#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

// Where a project's settings are looked for: in the current folder and the ones above it, up to the first border.
// Beyond a border a file belongs to something else than the project that the user works in, or may be anybody's:
//
//   a repository's root   the last folder that is looked at
//   a file system's root  likewise: what is mounted below is not part of what lies above
//   a shared folder       one that is sticky or that everybody may write to (/tmp): not looked at, nor what is above it

namespace wheelsmith::settings {

inline constexpr const char* k_project_file_name = "wheelsmith.toml";
inline constexpr std::uint64_t k_largest_file = 1 << 20;

// What the search has to know about a folder.
struct FolderFacts {
  std::uint64_t device = 0;
  bool shared = false;      // sticky, or writable for everybody
  bool repository = false;  // holds .git, whatever that is
  bool has_file = false;    // a wheelsmith.toml
};
using LookAtFolder = std::function<std::optional<FolderFacts>(const std::filesystem::path& folder)>;

// The file that the search finds; empty where there is none. `folder` is absolute and without links.
std::filesystem::path project_file(const std::filesystem::path& folder, const LookAtFolder& look);
std::filesystem::path project_file(const std::filesystem::path& folder);

std::optional<FolderFacts> look_at_folder(const std::filesystem::path& folder);

}  // namespace wheelsmith::settings
