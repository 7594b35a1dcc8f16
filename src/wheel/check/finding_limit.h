#pragma once

#include <vector>

#include "base/finding.h"

namespace wheelsmith::wheel {

// The same findings in a bounded report: of one id the first 100 and then one that counts the rest, every text at most
// 8000 bytes long. A wheel whose 100,000 members are all wrong in one way is said to be so in a page, not in 50 MB; and
// a tag list of 20 MB is not quoted in full.
std::vector<Finding> limited(std::vector<Finding> findings);

}  // namespace wheelsmith::wheel
