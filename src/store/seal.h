#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/index.h"

// A folder that is made once and then only read (an environment, a toolkit) is sealed when it is whole: its files lose
// their write permission, and its end mark lists what is in it, each file with its size and SHA-256. What differs from
// that list later was damaged: by a disk, by a process that was killed while it removed the folder, by a build script.

namespace wheelsmith::store {

struct SealState {
  enum class Kind { intact, unfinished, damaged };
  Kind kind = Kind::intact;
  std::string what{};                   // of a damaged one: the first difference
  std::vector<std::string> bytecode{};  // byte code that was added by a Python process; harmless once removed
};

// The text of the end mark. `read_only` takes write permission from all files below `folder`.
std::string make_seal(const std::filesystem::path& folder, bool read_only);

// Compares the folder with its seal. Files whose inode, size and times are those of the last check are not read
// again, unless `read_all`; `memory` remembers them.
SealState check_seal(const std::filesystem::path& folder, Index& memory, bool read_all);

// Removes what SealState::bytecode names; best effort.
void remove_bytecode(const std::filesystem::path& folder, const SealState& state);

}  // namespace wheelsmith::store
