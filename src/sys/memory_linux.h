#pragma once

#include <filesystem>

#include "sys/files.h"

namespace wheelsmith::sys {

// memory(), with /proc and /sys below another folder than "/"; for tests.
Memory memory_below(const std::filesystem::path& root);

}  // namespace wheelsmith::sys
