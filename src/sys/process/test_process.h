#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "base/text.h"
#include "sys/files.h"
#include "sys/process/process_tree_linux.h"

// Queries about processes started by tests, with patience for a busy machine.

namespace wheelsmith::sys {

// Whether the process still runs; a zombie does not.
inline bool runs(int pid) {
  const auto stat = parse_stat(read_file_if_there("/proc/" + std::to_string(pid) + "/stat").value_or(""));
  return stat && !stat->dead();
}

inline bool ends_soon(int pid) {
  using Clock = std::chrono::steady_clock;
  for (const auto until = Clock::now() + std::chrono::seconds(5); Clock::now() < until;) {
    if (!runs(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A PID that another process writes to a file.
inline int number_in(const std::filesystem::path& path) {
  using Clock = std::chrono::steady_clock;
  for (const auto until = Clock::now() + std::chrono::seconds(5); Clock::now() < until;) {
    if (const auto number = to_number(trim(read_file_if_there(path).value_or("")))) return static_cast<int>(*number);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ADD_FAILURE() << path << " was never written";
  return -1;
}

}  // namespace wheelsmith::sys
