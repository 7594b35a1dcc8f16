#pragma once

#include <string>
#include <vector>

#include "base/file_tree.h"
#include "base/finding.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {

// Wheels built against ROCm's Python packages load its libraries by a module of their own (torch/_rocm_init.py) before
// any extension: the libraries lie where no loader looks. What a binary needs and that list does not name is found at
// import time, by users.
std::vector<Finding> check_preload(const FileTree& tree, const std::vector<FileTree::File>& files,
                                   const std::vector<ElfFacts>& elf);

}  // namespace wheelsmith::wheel
