#pragma once

#include <filesystem>
#include <vector>

#include "choose/request.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// The interpreter of an environment's folder, or the interpreter itself.
std::filesystem::path interpreter_of(const std::filesystem::path& into);

// Those that were asked for, else the python3 of PATH; with --editable, that of the environment. Throws Error when one
// is not there.
std::vector<toolchain::Python> choose_pythons(const Request& request, const toolchain::Host& host);

}  // namespace wheelsmith::choose
