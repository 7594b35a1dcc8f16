#pragma once

#include <filesystem>
#include <string>

#include "base/bytes.h"

namespace wheelsmith::surgery {

// The file without the symbols and debug information that loading does not need, by the machine's `strip`. It lies in
// the folder, mapped. Throws Error where no strip for that machine ("aarch64") is found, or it fails.
Blob stripped(Bytes original, const std::string& machine, const std::filesystem::path& folder, std::size_t number);

}  // namespace wheelsmith::surgery
