#pragma once

#include <filesystem>

namespace wheelsmith::cli {

// The site-packages of an environment, where the folder is one; else the folder itself.
std::filesystem::path site_packages_of(const std::filesystem::path& folder);

}  // namespace wheelsmith::cli
