#include "toolchain/torch_files.h"

#include "base/text.h"

namespace wheelsmith::toolchain {

namespace {

// The quoted text that a line assigns to the name, with or without a type: "cuda: Optional[str] = '13.0'". Nothing for
// another line; "" for None.
std::optional<std::string> assigned(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  if (line.empty() || (line[0] != ' ' && line[0] != ':' && line[0] != '=')) return std::nullopt;
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  std::string_view value = trim(line.substr(equals + 1));
  if (value.empty() || (value[0] != '\'' && value[0] != '"')) return std::string();
  const std::size_t end = value.find(value[0], 1);
  if (end == std::string_view::npos || end > 128) return std::string();
  return std::string(value.substr(1, end - 1));
}

}  // namespace

std::optional<TorchVersion> read_torch_version(std::string_view text) {
  TorchVersion found;
  for (const std::string_view line : lines(text.substr(0, 1u << 16))) {
    if (const auto value = assigned(line, "__version__")) found.version = *value;
    if (const auto value = assigned(line, "cuda")) found.cuda = *value;
    if (const auto value = assigned(line, "hip")) found.hip = *value;
  }
  if (found.version.empty()) return std::nullopt;
  return found;
}

std::optional<bool> read_torch_abi(std::string_view torch_config) {
  constexpr std::string_view k_flag = "_GLIBCXX_USE_CXX11_ABI=";
  const std::size_t at = torch_config.find(k_flag);
  if (at == std::string_view::npos || at + k_flag.size() >= torch_config.size()) return std::nullopt;
  const char value = torch_config[at + k_flag.size()];
  if (value == '0' || value == '1') return value == '1';
  return std::nullopt;
}

}  // namespace wheelsmith::toolchain
