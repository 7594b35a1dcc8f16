#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "toolchain/toolchain.h"

namespace wheelsmith::toolchain {

struct CudaRow {
  int max_gcc = 0, max_clang = 0;
  std::vector<std::string> archs;
};
// For that version, or the nearest older one with the same major number ("12.7" is like 12.6); nothing for others.
std::optional<CudaRow> cuda_row(std::string_view cuda_version);

}  // namespace wheelsmith::toolchain
