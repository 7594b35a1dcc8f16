#pragma once

#include <filesystem>
#include <vector>

#include "env/env.h"

namespace wheelsmith::env {

// An environment without packages at `root`, like python -m venv --without-pip, but without starting a process.
// `appended_sites` come after its own site-packages.
Environment write_venv(const toolchain::Python& python, const std::filesystem::path& root,
                       const std::vector<std::filesystem::path>& appended_sites);
// The result of write_venv(), without writing.
Environment venv_at(const toolchain::Python& python, const std::filesystem::path& root);

}  // namespace wheelsmith::env
