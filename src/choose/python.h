#pragma once

#include <vector>

#include "choose/request.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// Those that were asked for, else the python3 of PATH. Throws Error when one is not there.
std::vector<toolchain::Python> choose_pythons(const Request& request, const toolchain::Host& host);

}  // namespace wheelsmith::choose
