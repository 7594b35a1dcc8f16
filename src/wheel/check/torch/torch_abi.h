#pragma once

#include <vector>

#include "base/finding.h"
#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// Whether extensions among the files were built for a different C++11 ABI, torch or accelerator than the torch among
// the providers. Without a torch, only a note on the ABI that the extension uses.
std::vector<Finding> check_torch_abi(const std::vector<ElfFacts>& own, const std::vector<Provider>& against);

}  // namespace wheelsmith::wheel
