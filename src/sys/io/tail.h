#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace wheelsmith::sys {

// The bytes of a growing file from `offset` on, at most `limit`; "" when there are none or the file is not there. It is
// opened anew each time, which is when network file systems look for changes.
std::string read_from(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t limit);

}  // namespace wheelsmith::sys
