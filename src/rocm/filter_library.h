#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelsmith::rocm {

// A shared library of a few hundred bytes that stands for `target` in its own folder: loading it by name loads the
// other one in its place. `machine` is ELF's number of the host. Throws Error for a machine that has no ELF of 64 bits
// with little end first.
std::string filter_library(std::uint16_t machine, std::string_view target);

}  // namespace wheelsmith::rocm
