#pragma once

#include <string>
#include <vector>

#include "base/file_tree.h"
#include "base/finding.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {

// Wheels built against ROCm's Python packages load its libraries with a module (torch/_rocm_init.py) before any
// extension, because the loader does not search their folders. A NEEDED library missing from that list would otherwise
// only fail at import time on the user's machine.
std::vector<Finding> check_preload(const FileTree& tree, const std::vector<FileTree::File>& files,
                                   const std::vector<ElfFacts>& elf);

}  // namespace wheelsmith::wheel
