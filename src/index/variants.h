#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "index/indexes.h"

namespace wheelsmith::index {

// The document {name}-{version}-variants.json of PEP 825: the merged variants of all variant wheels of one version.
struct VariantsFile {
  std::string name;  // "torch-2.10.0-variants.json"
  std::string version;
  std::string text;
};

// One for each version that has variant wheels. It does not depend on the order of the files. Contradictions are
// findings (if requested), and the first wheel by name wins.
std::vector<VariantsFile> make_variants(const Project& project, std::vector<Finding>* findings);

}  // namespace wheelsmith::index
