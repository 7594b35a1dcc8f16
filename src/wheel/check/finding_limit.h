#pragma once

#include <vector>

#include "base/finding.h"

namespace wheelsmith::wheel {

// Limits a report: the first 10,000 findings of each id and one that counts the rest, about 20 MB for all ids together,
// at most 8000 bytes per text. Real wheels stay far below this. A wheel with 1,000,000 wrong members then gives a
// report of 5 MB instead of 500 MB, and a tag list of 20 MB is not quoted in full.
std::vector<Finding> limited(std::vector<Finding> findings);

}  // namespace wheelsmith::wheel
