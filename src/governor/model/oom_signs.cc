#include "governor/model/oom_signs.h"

#include <array>

// The kernel kills the largest process, which is rarely the one that was started: each driver reports in its own words
// that its inner program got signal 9. A program that is denied memory (ulimit, no overcommit) reports it itself.

namespace wheelsmith::governor {

namespace {

constexpr std::array<std::string_view, 12> k_signs{
    "Killed signal terminated program",   // gcc
    "terminated with signal 9",           // collect2 of ld
    "died due to signal 9",               // nvcc
    "unable to execute command: Killed",  // clang
    "command failed due to signal 9",     // clang
    "command failed with exit code 137",  // hipcc
    "cc1plus: out of memory allocating",
    "cc1: out of memory allocating",
    "virtual memory exhausted: Cannot allocate memory",
    "LLVM ERROR: out of memory",
    "memory exhausted",  // ld
    "ptxas fatal   : Memory allocation failure",
};

}  // namespace

bool ended_for_memory(int exit_code, int signal, std::string_view output) {
  constexpr int k_kill = 9;
  if (signal == k_kill || exit_code == 128 + k_kill) return true;
  if (exit_code == 0) return false;
  for (const std::string_view sign : k_signs) {
    if (output.find(sign) != output.npos) return true;
  }
  return false;
}

}  // namespace wheelsmith::governor
