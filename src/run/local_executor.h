#pragma once

#include <functional>
#include <memory>

#include "run/executor.h"
#include "store/store.h"

namespace wheelsmith::run {

struct LocalOptions {
  std::size_t steps_at_once = 1;
  unsigned cores = 0;    // of this machine that steps may use; 0: all
  bool governed = true;  // the governor admits compilers by memory and cores
  std::function<void(const std::string&)> on_note = [](const std::string&) {};
};

// Runs steps as processes on this machine, which report as lines of JSON on standard output.
std::unique_ptr<Executor> make_local_executor(store::Store& store, const LocalOptions& options);

}  // namespace wheelsmith::run
