#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_tree.h"
#include "base/finding.h"
#include "pep/variant_file.h"
#include "wheel/read/distribution.h"
#include "wheel/read/scan.h"

namespace wheelsmith::wheel {

struct FoundProperties {
  pep::VariantProperties properties;
  std::vector<std::string> notes;  // what could not be expressed or found, as sentences
};

// The variant properties of a wheel, read from its binaries: the namespaces nvidia, amd and x86_64.
FoundProperties find_variant_properties(const Scan& scan, const Distribution& distribution);

// Whether properties say what the binaries hold. A property that promises more is an error: an installer would choose
// the wheel for a machine on which it does not run. Code that no property mentions is a warning.
std::vector<Finding> check_variant_properties(const pep::VariantProperties& properties, const Scan& scan,
                                              const Distribution& distribution, const std::string& subject);

// Whether the label in the file name and variant.json agree, and variant.json is valid in its dialect. Returns the
// properties in `properties` if so, for check_variant_properties().
std::vector<Finding> check_variant_file(const std::optional<pep::WheelName>& name, const Distribution& distribution,
                                        const FileTree& tree, std::optional<pep::VariantProperties>& properties);

}  // namespace wheelsmith::wheel
