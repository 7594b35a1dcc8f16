#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::source {

// One file of a source folder, as lstat() sees it.
struct SourceFile {
  std::string name;  // relative, '/' between parts
  bool link = false, executable = false;
  std::string target;  // of a link
  std::uint64_t size = 0;
  std::string state;     // detects changes without reading: device, inode, size, mtime, ctime; no blanks
  bool settled = false;  // unchanged for a few seconds; a change within them might not show in `state`
};

// The files of the source, sorted by name: in a git checkout those that are tracked, or neither tracked nor ignored,
// with submodules; elsewhere everything. Build leftovers are excluded unless they are tracked.
std::vector<SourceFile> list_source(const std::filesystem::path& folder);

// .git, __pycache__, *.egg-info, …; `build` and `dist` at the top only, since packages have folders of these names.
bool is_leftover(std::string_view name);

}  // namespace wheelsmith::source
