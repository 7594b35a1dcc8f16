#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/read/elf_facts.h"
#include "wheel/tags/required_packages.h"

namespace wheelsmith::wheel {

// Run paths that are absolute, empty or leave the wheel, and grafted libraries ("libfoo-1a2b3c4d.so.1", as auditwheel
// names its copies) that the wheel needs but does not hold. `packages` are the folders at the top of site-packages, as
// far as they are known: those of the wheel, of what it requires, or of the installed folder.
std::vector<Finding> check_run_paths(const std::vector<ElfFacts>& files, const RequiredPackages& required,
                                     const std::set<std::string>& packages);

}  // namespace wheelsmith::wheel
