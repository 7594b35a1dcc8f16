#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "env/env.h"

namespace wheelsmith::env {

// An interpreter whose pip can report: the given one, or where it has none, one of an environment in the store that
// ensurepip filled. Throws Error with the command that mends it.
std::filesystem::path python_with_pip(const toolchain::Python& python, const fetch::IndexSettings& index,
                                      store::Store& store);

// pip's environment: our own without its PIP_* variables (the settings have them already) and without what would make
// Python look elsewhere; the index as variables, since a command line is everyone's to read.
sys::Environment pip_environment(const fetch::IndexSettings& index);

}  // namespace wheelsmith::env
