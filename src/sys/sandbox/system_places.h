#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

namespace wheelsmith::sys {

// Paths that every program sees, read-only: the system's programs, libraries and configuration. Only existing ones.
std::vector<std::filesystem::path> system_places();

// Whether a path below /etc is public: world-readable, and not one of the files that contain passwords anyway.
bool is_for_everybody(const std::filesystem::path& path);

inline constexpr std::array<std::string_view, 6> k_plain_devices{"null", "zero", "full", "random", "urandom", "tty"};

}  // namespace wheelsmith::sys
