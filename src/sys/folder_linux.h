#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace wheelsmith::sys {

// The names in an open folder (not "." and ".."), unsorted; the caller keeps the descriptor. The listing is complete
// before it returns: some file systems skip entries when others are removed meanwhile.
std::vector<std::string> names_in(int folder_fd, const std::filesystem::path& path);
std::vector<std::string> names_in(const std::filesystem::path& path);

}  // namespace wheelsmith::sys
