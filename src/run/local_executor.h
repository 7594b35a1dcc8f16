#pragma once

#include <functional>
#include <memory>

#include "run/executor.h"
#include "store/store.h"

namespace wheelsmith::run {

struct LocalOptions {
  std::size_t steps_at_once = 1;
  unsigned cores = 0;    // that steps may use of this machine; 0: all
  bool governed = true;  // compilers are admitted by memory and cores
  std::function<void(const std::string&)> on_note = [](const std::string&) {};
};

// Steps as processes of this machine, which report by lines of JSON on their standard output.
std::unique_ptr<Executor> make_local_executor(store::Store& store, const LocalOptions& options);

}  // namespace wheelsmith::run
