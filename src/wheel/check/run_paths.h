#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/read/elf_facts.h"
#include "wheel/tags/required_packages.h"

namespace wheelsmith::wheel {

// Run paths that are absolute, empty or leave the wheel, and bundled libraries ("libfoo-1a2b3c4d.so.1", as auditwheel
// names its copies) that the wheel needs but does not contain. `packages` are the known top-level folders of
// site-packages: those of the wheel, of its requirements, or of the installed folder.
std::vector<Finding> check_run_paths(const std::vector<ElfFacts>& files, const RequiredPackages& required,
                                     const std::set<std::string>& packages);

}  // namespace wheelsmith::wheel
