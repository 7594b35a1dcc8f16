#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace wheelsmith::sys {

// The names in an open folder (not "." and ".."), in no order; the descriptor stays the caller's. Read to the end
// before anything is done with them: some file systems skip entries when others are removed meanwhile.
std::vector<std::string> names_in(int folder_fd, const std::filesystem::path& path);
std::vector<std::string> names_in(const std::filesystem::path& path);

}  // namespace wheelsmith::sys
