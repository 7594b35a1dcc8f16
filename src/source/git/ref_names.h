#pragma once

#include <string_view>

// Where git keeps tags, branches and what it knows of a remote's branches.

namespace wheelsmith::source {

inline constexpr std::string_view k_tags = "refs/tags/", k_heads = "refs/heads/", k_remotes = "refs/remotes/origin/";

}  // namespace wheelsmith::source
