#pragma once

#include <string_view>

namespace wheelsmith::governor {

// Whether a compiler ended for lack of memory: by how it ended, and by what it and the programs below it said.
bool ended_for_memory(int exit_code, int signal, std::string_view output);

}  // namespace wheelsmith::governor
