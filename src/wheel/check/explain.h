#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::wheel {

// The explanation of a finding for `check --explain ID`: meaning, causes, fix. Nothing for an unknown id.
std::optional<std::string> explain(std::string_view id);
std::vector<std::string> explained_ids();

}  // namespace wheelsmith::wheel
