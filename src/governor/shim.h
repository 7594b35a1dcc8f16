#pragma once

#include <string>
#include <string_view>
#include <vector>

// Small parts of the shim that can be looked at by themselves.

namespace wheelsmith::governor {

// Below a granted compiler nothing is governed again: PATH without the shims, no exec hook, and who holds the grant.
// `environment` is as execve takes it.
std::vector<std::string> environment_below(const std::vector<std::string>& environment, const std::string& shims,
                                           const std::string& extra);

// Where the real compiler is noted when a shim was called as `called` (argv[0]): "real/gcc", or "real/cuda/nvcc" when
// it was called through the view of a toolkit (SHIMS/cuda/bin/nvcc).
std::string note_of_real(const std::string& shims, std::string_view called);

}  // namespace wheelsmith::governor
