#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "source/source.h"

namespace wheelsmith::source {

struct PatchedFile {
  std::string name;                  // without its first part (-p1): what is changed, made or removed
  std::vector<std::uint64_t> hunks;  // first line of each, in the old file
};

// What a unified diff touches. Throws Error for a name that is absolute, leads out or into .git, for links and
// submodules, and for a text that holds no diff at all.
std::vector<PatchedFile> read_patch(std::string_view text);

// One after the other; throws at the first that does not apply, and then none of that one is applied.
void apply_patches(const std::filesystem::path& folder, const std::vector<Patch>& patches);

}  // namespace wheelsmith::source
