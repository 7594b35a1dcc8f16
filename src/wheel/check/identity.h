#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "pep/wheel_name.h"
#include "wheel/read/distribution.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// Whether the file name, .dist-info folder, METADATA and WHEEL agree. `name` is empty for a folder.
std::vector<Finding> check_identity(const std::optional<pep::WheelName>& name,
                                    const std::vector<Distribution>& distributions);

// Whether the tags match the binaries: ELF files under purelib or in a wheel for "any", extension modules whose suffix
// names a different Python than the tag.
std::vector<Finding> check_tags(const std::optional<pep::WheelName>& name, const Distribution& distribution,
                                const std::vector<ElfFacts>& files);

}  // namespace wheelsmith::wheel
