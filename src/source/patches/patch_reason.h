#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "source/patches/patch.h"

namespace wheelsmith::source {

// Where a patch failed: "setup.py", "hunk 2 (line 40)".
struct PatchFailure {
  std::string file, where;
  std::optional<std::uint64_t> line;  // the failing hunk's first line in the patch
};

// From the output of `git apply` and `git am`.
PatchFailure git_failure(const std::string& errors, const std::vector<PatchedFile>& files);

// The hunk's expectation and the actual text: `it expects "a = 1", line 12 is "a = 2"`. The hunk is matched where most
// of its lines fit. "" if nothing can be said.
std::string what_is_there(std::string_view patch, const PatchFailure& failure, std::string_view text);

}  // namespace wheelsmith::source
