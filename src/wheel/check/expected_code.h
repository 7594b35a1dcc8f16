#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "gpu/code/expected_code.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// Checks each library against the first expectation that matches its path. A library without one that has device code
// is checked against the whole list; a missing architecture is only a warning then, because the recipe does not require
// it.
std::vector<Finding> check_expected_code(const std::vector<ElfFacts>& files, const gpu::ArchList& asked,
                                         const std::vector<gpu::ExpectedCode>& expected);

}  // namespace wheelsmith::wheel
