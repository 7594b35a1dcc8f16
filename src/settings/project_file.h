#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

// Searches for a project's settings in the current folder and its parents, up to the first boundary. A file beyond a
// boundary does not belong to the user's project, or may have been written by another user:
//
//   a repository's root   the last folder that is searched
//   a file system's root  likewise: a mounted file system is not part of the one above
//   a shared folder       sticky or world-writable (/tmp): not searched, nor its parents

namespace wheelsmith::settings {

inline constexpr const char* k_project_file_name = "wheelsmith.toml";
inline constexpr std::uint64_t k_largest_file = 1 << 20;

// The properties of a folder that the search needs.
struct FolderFacts {
  std::uint64_t device = 0;
  bool shared = false;      // sticky or world-writable
  bool repository = false;  // contains .git, a file or a folder
  bool has_file = false;    // contains wheelsmith.toml
};
using LookAtFolder = std::function<std::optional<FolderFacts>(const std::filesystem::path& folder)>;

// The file that the search finds, or empty. `folder` is absolute and without links.
std::filesystem::path project_file(const std::filesystem::path& folder, const LookAtFolder& look);
std::filesystem::path project_file(const std::filesystem::path& folder);

std::optional<FolderFacts> examine_folder(const std::filesystem::path& folder);

}  // namespace wheelsmith::settings
