#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/enum_names.h"

namespace wheelsmith::toolchain {

// Where a compiler, toolkit or program comes from.
enum class Origin : std::uint8_t {
  system,    // the distribution's, or whatever else is in PATH
  conda,     // the active conda environment
  pip,       // a Python script or a wheel's program that shadows the system's
  setting,   // the user named it
  machine,   // a CUDA toolkit that was found
  folder,    // a ROCm that was found, or named by a variable
  rocm_sdk,  // the ROCm of a Python environment
};

}  // namespace wheelsmith::toolchain

template <>
struct wheelsmith::EnumNames<wheelsmith::toolchain::Origin> {
  static constexpr std::array list = {"system", "conda", "pip", "setting", "machine", "folder", "rocm-sdk"};
};

namespace wheelsmith::toolchain {

constexpr std::string_view to_string(Origin origin) { return enum_name(origin); }

}  // namespace wheelsmith::toolchain
