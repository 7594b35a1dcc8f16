#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "index/indexes.h"

namespace wheelsmith::index {

// The document {name}-{version}-variants.json of PEP 825: what all variant wheels of one version say of their variants.
struct VariantsFile {
  std::string name;  // "torch-2.10.0-variants.json"
  std::string version;
  std::string text;
};

// One for each version that has variant wheels. It does not depend on the order of the files. Wheels that contradict
// each other are findings (where wanted), and what the first by name says holds.
std::vector<VariantsFile> make_variants(const Project& project, std::vector<Finding>* findings);

}  // namespace wheelsmith::index
