#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "gpu/code/expected_code.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// Each library against the first expectation that fits its path. A library without one that has device code is held to
// the whole list; what it lacks is a warning then, since nobody said that it must have it.
std::vector<Finding> check_expected_code(const std::vector<ElfFacts>& files, const gpu::ArchList& asked,
                                         const std::vector<gpu::ExpectedCode>& expected);

}  // namespace wheelsmith::wheel
