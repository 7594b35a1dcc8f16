#pragma once

#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

namespace wheelsmith::sys {

// What every program sees, read only: the system's programs, libraries and settings. Those that are there.
std::vector<std::filesystem::path> system_places();

// Whether a file or folder below /etc is for all programs of the machine: everybody may read it, and it is none of
// those that hold passwords all the same.
bool is_for_everybody(const std::filesystem::path& path);

inline constexpr std::array<std::string_view, 6> k_plain_devices{"null", "zero", "full", "random", "urandom", "tty"};

}  // namespace wheelsmith::sys
