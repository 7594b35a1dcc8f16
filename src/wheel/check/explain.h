#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::wheel {

// More about a finding, for `check --explain ID`: what it means, how it comes about, what mends it. Nothing for an id
// that does not exist.
std::optional<std::string> explain(std::string_view id);
std::vector<std::string> explained_ids();

}  // namespace wheelsmith::wheel
