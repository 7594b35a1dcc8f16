#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace wheelsmith::toolchain {

// torch/version.py, read as text: nothing is run.
struct TorchVersion {
  std::string version;    // "2.13.0+cpu"
  std::string cuda, hip;  // "" for None
};
std::optional<TorchVersion> read_torch_version(std::string_view text);

// _GLIBCXX_USE_CXX11_ABI as TorchConfig.cmake sets it; nothing if it does not (2.12 and later).
std::optional<bool> read_torch_abi(std::string_view torch_config);

}  // namespace wheelsmith::toolchain
