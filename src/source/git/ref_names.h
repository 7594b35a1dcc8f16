#pragma once

#include <string_view>

// Where git stores tags, branches and a remote's branches.

namespace wheelsmith::source {

inline constexpr std::string_view k_tags = "refs/tags/", k_heads = "refs/heads/", k_remotes = "refs/remotes/origin/";

}  // namespace wheelsmith::source
