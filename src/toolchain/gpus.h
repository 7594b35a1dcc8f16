#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/toolchain.h"

namespace wheelsmith::toolchain {

// Parses `nvidia-smi --query-gpu=name,compute_cap,memory.total,driver_version --format=csv,noheader,nounits`. Lines
// that are not devices are skipped.
std::vector<Gpu> read_nvidia_smi(std::string_view text);

// The processor's name from KFD's number: 90402 -> "gfx942", 90010 -> "gfx90a", 110501 -> "gfx1151"; "" for 0 (a CPU).
std::string gfx_name(std::uint64_t gfx_target_version);

// The value of a line "name value" in one of KFD's properties files.
std::optional<std::uint64_t> kfd_property(std::string_view text, std::string_view name);

}  // namespace wheelsmith::toolchain
