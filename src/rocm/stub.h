#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelsmith::rocm {

// A program that runs the one at `target`, a path relative to its own folder, with the same arguments and
// environment. Throws Error for a path that is absolute, empty or too long. See stub/exec_stub.c.
std::string exec_stub(std::string_view target);
// ELF's number of the machine that it runs on.
std::uint16_t exec_stub_machine();

// The path from the folder of `from` to `to`, both relative to one root: ("bin/hipcc", "lib/llvm/bin/clang") is
// "../lib/llvm/bin/clang".
std::string relative_target(std::string_view from, std::string_view to);

}  // namespace wheelsmith::rocm
