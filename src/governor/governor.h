#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "governor/record.h"
#include "governor/server/wire.h"
#include "store/store.h"
#include "sys/io/fd.h"
#include "sys/process/process.h"

// What the rest of the program sees of the governor: no build runs out of memory, no core waits for nothing. How it
// works is in docs/governor.md.

namespace wheelsmith::governor {

// First of all in main: when we were called by a compiler's name, we are a shim, and this is the exit status. Nothing
// otherwise.
std::optional<int> run_as_shim(int argc, char** argv);

// The process `wheelsmith governor`. Returns at once when there is one already.
int run_governor(const std::filesystem::path& runtime);

// What build systems are told where nobody set a number: enough that the governor always has several to choose from.
unsigned offered_jobs(unsigned cores);

struct Options {
  std::string name;                 // for people who look at records: a step's id, a command
  unsigned jobs = 0;                // the most compiles at once; 0: as many as cores
  unsigned cores = 0;               // 0: the machine's
  std::uint64_t memory = 0;         // the most for all compiles together; 0: as much as there is
  std::filesystem::path record{};   // written anew; empty: a file of its own in the store's logs/
  std::filesystem::path program{};  // what the shims are made of; empty: our own executable
  cache::CacheOptions cache{};
  // Where the shims of a build in a sandbox note what compilers say of themselves: it may be written by the build
  // alone, while the shims are for all. Empty: beside the shims. Shims in a sandbox start no governor, since nobody
  // outside would find it.
  std::filesystem::path confined{};
};

struct Places {
  std::vector<std::filesystem::path> readable, writable;
};

// A build that is governed, from before its first process to after its last:
//
//   GovernedBuild governed(store, options);
//   governed.govern(environment);     // of the processes to come
//   … run them, and now and then governed.status() …
//   governed.finish(exit);
class GovernedBuild {
 public:
  // Throws Error when there is no place for shims or the governor. Starts the governor when there is none.
  GovernedBuild(const store::Store& store, Options options);
  ~GovernedBuild();
  GovernedBuild(const GovernedBuild&) = delete;
  GovernedBuild& operator=(const GovernedBuild&) = delete;

  // Puts the shims in front of PATH, the exec hook into LD_PRELOAD, the views of toolkits where CUDA_HOME and ROCM_PATH
  // point, and job counts that leave the choice to the governor. What the environment says of job counts itself is an
  // upper bound for the build.
  void govern(sys::Environment& environment);

  // What the governor says of this build (docs/governor.md, "Status").
  // Looks after the connection too: call it at least every few seconds. Never waits.
  const Message& status();
  // What a build in a sandbox has to see of ours. After govern().
  [[nodiscard]] Places places() const;
  // Ready to read when there is something for status(); not open while there is no governor.
  [[nodiscard]] const sys::Fd& news() const;

  [[nodiscard]] const std::filesystem::path& record() const;
  // After the last process, with how the build ended: what happened in all. Waits for the governor's last lines, not
  // long.
  Summary finish(int exit);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// Runs a command with our own standard streams under the governor and waits for it: its exit status as a shell counts,
// 127 when it cannot be started.
int run_command(const std::vector<std::string>& argv, const sys::Environment& environment, GovernedBuild& governed);

}  // namespace wheelsmith::governor
