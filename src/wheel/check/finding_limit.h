#pragma once

#include <vector>

#include "base/finding.h"

namespace wheelsmith::wheel {

// The same findings in a bounded report: of one id the first 10,000 and then one that counts the rest, of all ids
// together some 20 MB, every text at most 8000 bytes long. Real wheels stay far below it. A wheel whose 1,000,000
// members are all wrong in one way is said to be so in 5 MB, not in 500; and a tag list of 20 MB is not quoted in full.
std::vector<Finding> limited(std::vector<Finding> findings);

}  // namespace wheelsmith::wheel
