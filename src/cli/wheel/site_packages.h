#pragma once

#include <filesystem>

namespace wheelsmith::cli {

// The site-packages of a virtual environment, or of a prefix such as /usr/local or a conda environment; for any other
// folder, the folder itself.
std::filesystem::path site_packages_of(const std::filesystem::path& folder);

}  // namespace wheelsmith::cli
