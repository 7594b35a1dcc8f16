#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "pep/wheel_name.h"
#include "wheel/read/distribution.h"
#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// Whether file name, .dist-info folder, METADATA and WHEEL tell the same story. `name` is nothing for a folder.
std::vector<Finding> check_identity(const std::optional<pep::WheelName>& name,
                                    const std::vector<Distribution>& distributions);

// Whether the tags fit the binaries: ELF files under purelib or in a wheel for "any", extension modules whose suffix is
// of another Python than the tag says.
std::vector<Finding> check_tags(const std::optional<pep::WheelName>& name, const Distribution& distribution,
                                const std::vector<ElfFacts>& files);

}  // namespace wheelsmith::wheel
