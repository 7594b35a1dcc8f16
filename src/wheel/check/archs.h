#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "gpu/arch.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {

// What the device code lacks for the architectures and devices asked for, what would run only by JIT, and what is there
// unasked. It is judged over all files, and for each library that holds device code of its own. `subject` names the
// wheel. Without a wish there are no findings.
std::vector<Finding> check_archs(const std::vector<ElfFacts>& files, const std::vector<DeviceFile>& device_files,
                                 const std::optional<gpu::ArchList>& wanted, const std::vector<gpu::Device>& devices,
                                 const std::string& subject);

}  // namespace wheelsmith::wheel
