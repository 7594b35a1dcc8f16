#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "run/executor.h"
#include "slurm/commands.h"
#include "store/store.h"

namespace wheelsmith::run {

struct SlurmOptions {
  slurm::SubmitLimits limits{};
  // What holds for a step: the user's settings for its recipe and variant. Throws Error.
  std::function<slurm::SiteOptions(const plan::BuildSpec&)> site_for = [](const plan::BuildSpec&) {
    return slurm::SiteOptions();
  };
  bool governed = true;  // compilers are admitted by memory and cores
  bool cancel = false;   // nothing is submitted: jobs of the steps that are there are cancelled
  std::function<void(const std::string&)> on_note = [](const std::string&) {};
  // The time, in seconds of a clock that does not go back, and how it passes while there is nothing to do; for tests.
  std::function<double()> now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  std::function<void(double)> pause = [](double seconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  };
};

// Steps as jobs of Slurm, with the store on a file system that the nodes share. The jobs are not ours: they go on when
// we end, and another executor with the same submissions finds them.
std::unique_ptr<Executor> make_slurm_executor(store::Store& store, slurm::Commands& commands,
                                              const SlurmOptions& options);

}  // namespace wheelsmith::run
