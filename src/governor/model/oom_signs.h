#pragma once

#include <string_view>

namespace wheelsmith::governor {

// Whether a compiler ran out of memory: by its exit status, and by its output and that of its child programs.
bool ended_for_memory(int exit_code, int signal, std::string_view output);

}  // namespace wheelsmith::governor
