#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "gpu/arch.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {

// Reports requested architectures and devices without device code, those served only by JIT, and code that was not
// requested, over all files and for each library with device code. `subject` names the wheel. No findings if nothing
// was requested.
std::vector<Finding> check_archs(const std::vector<ElfFacts>& files, const std::vector<DeviceFile>& device_files,
                                 const std::optional<gpu::ArchList>& wanted, const std::vector<gpu::Device>& devices,
                                 const std::string& subject);

}  // namespace wheelsmith::wheel
