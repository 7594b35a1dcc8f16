#pragma once

#include <filesystem>
#include <string>

#include "base/bytes.h"

namespace wheelsmith::surgery {

// The file without the symbols and debug information that loading does not need, by the machine's `strip`. The
// result is mapped from the folder. Throws Error if no strip for that machine ("aarch64") is found, or it fails.
Blob stripped(Bytes original, const std::string& machine, const std::filesystem::path& folder, std::size_t number);

}  // namespace wheelsmith::surgery
