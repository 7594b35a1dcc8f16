#pragma once

#include <vector>

#include "base/finding.h"
#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// Whether extensions among the files were built for another C++11 ABI, another torch or another accelerator than the
// torch among the providers. Without a torch there, says nothing but (as a note) what ABI the extension uses.
std::vector<Finding> check_torch_abi(const std::vector<ElfFacts>& own, const std::vector<Provider>& against);

}  // namespace wheelsmith::wheel
