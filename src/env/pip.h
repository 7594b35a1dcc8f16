#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "env/env.h"

namespace wheelsmith::env {

// An interpreter whose pip supports --report: the given one or, without pip, one in a stored environment set up by
// ensurepip. Throws Error with the command that fixes it.
std::filesystem::path python_with_pip(const toolchain::Python& python, const fetch::IndexSettings& index,
                                      store::Store& store);

// pip's environment: ours without PIP_* variables (the settings already include them) and without variables that
// redirect Python; the index as variables, since every user can read a command line.
sys::Environment pip_environment(const fetch::IndexSettings& index);

}  // namespace wheelsmith::env
