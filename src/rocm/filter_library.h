#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelsmith::rocm {

// A shared library of a few hundred bytes that represents `target` in its own folder: loading it by name loads the
// other one instead. `machine` is ELF's machine number. Throws Error for a machine without 64-bit little-endian ELF.
std::string filter_library(std::uint16_t machine, std::string_view target);

}  // namespace wheelsmith::rocm
