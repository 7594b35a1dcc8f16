#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "source/source.h"

namespace wheelsmith::source {

struct PatchedFile {
  std::string name;                  // without its first component (-p1): changed, added or removed
  std::vector<std::uint64_t> hunks;  // first line of each, in the old file
};

// The files that a unified diff touches. Throws Error for a name that is absolute, leaves the source or enters .git,
// for links and submodules, and for a text without a diff.
std::vector<PatchedFile> read_patch(std::string_view text);

// In order; throws at the first patch that does not apply, of which nothing is applied.
void apply_patches(const std::filesystem::path& folder, const std::vector<Patch>& patches);

}  // namespace wheelsmith::source
