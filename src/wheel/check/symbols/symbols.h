#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// Undefined symbols that nothing provides, strict and loose apart; versions that a given library lacks.
std::vector<Finding> check_symbols(const std::vector<ElfFacts>& own, const std::vector<Provider>& against);

// `--require-symbol`: each wanted text must be found in some exported or (demangled) name of the files.
std::vector<Finding> check_required_symbols(const std::vector<ElfFacts>& own, const std::vector<std::string>& wanted);

}  // namespace wheelsmith::wheel
