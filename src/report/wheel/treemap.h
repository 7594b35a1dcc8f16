#pragma once

#include <cstdint>
#include <string>

#include "wheel/read/size_tree.h"

namespace wheelsmith::report {

// The page of `inspect --html`. `file_bytes` is the size of the wheel itself; 0 if it is a folder.
std::string treemap_html(const wheel::SizeNode& tree, std::uint64_t file_bytes);

}  // namespace wheelsmith::report
