#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/index.h"

// A folder that is created once and then only read (an environment, a toolkit) is sealed when complete: its files lose
// write permission, and its end mark lists its content, each file with size and SHA-256. Any later difference is
// damage: by a disk, a build script, or a process killed while it removed the folder.

namespace wheelsmith::store {

struct SealState {
  enum class Kind { intact, unfinished, damaged };
  Kind kind = Kind::intact;
  std::string what{};                   // if damaged: the first difference
  std::vector<std::string> bytecode{};  // byte code added by a Python process; harmless once removed
};

// The text of the end mark. `read_only` removes write permission from all files below `folder`.
std::string make_seal(const std::filesystem::path& folder, bool read_only);

// Compares the folder with its seal. Files whose inode, size and times match the last check are not read again, unless
// `read_all`; `memory` remembers them.
SealState check_seal(const std::filesystem::path& folder, Index& memory, bool read_all);

// Removes the files in SealState::bytecode; best effort.
void remove_bytecode(const std::filesystem::path& folder, const SealState& state);

}  // namespace wheelsmith::store
