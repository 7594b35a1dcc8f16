#pragma once

#include <vector>

#include "base/finding.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// Run paths that are absolute, empty or leave the wheel, and grafted libraries ("libfoo-1a2b3c4d.so.1", as auditwheel
// names its copies) that the wheel needs but does not hold.
std::vector<Finding> check_run_paths(const std::vector<ElfFacts>& files);

}  // namespace wheelsmith::wheel
