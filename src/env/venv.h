#pragma once

#include <filesystem>
#include <vector>

#include "env/env.h"

namespace wheelsmith::env {

// An environment without packages at `root`, as python -m venv --without-pip makes it, but without starting anything.
// `appended_sites` come behind its own site-packages.
Environment write_venv(const toolchain::Python& python, const std::filesystem::path& root,
                       const std::vector<std::filesystem::path>& appended_sites);
// What write_venv() would return.
Environment venv_at(const toolchain::Python& python, const std::filesystem::path& root);

}  // namespace wheelsmith::env
