#pragma once

#include <filesystem>
#include <vector>

#include "choose/request.h"
#include "toolchain/toolchain.h"

namespace wheelsmith::choose {

// The interpreter of an environment's folder; an interpreter is returned as it is.
std::filesystem::path interpreter_of(const std::filesystem::path& into);

// The requested interpreters, else python3 from PATH; with --editable, that of the environment. Throws Error if one
// does not exist.
std::vector<toolchain::Python> choose_pythons(const Request& request, const toolchain::Host& host);

}  // namespace wheelsmith::choose
