#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "governor/model/node_rooms.h"
#include "governor/record.h"
#include "governor/server/wire.h"
#include "store/store.h"
#include "sys/io/fd.h"
#include "sys/process/process.h"
#include "sys/sandbox/sandbox.h"

// The governor's interface to the rest of the program: no build runs out of memory, and no core idles. docs/governor.md
// explains how it works.

namespace wheelsmith::governor {

// Call first in main: when called by a compiler's name, this process is a shim, and this is its exit status. Nothing
// otherwise.
std::optional<int> run_as_shim(int argc, char** argv);

// The process `wheelsmith governor`. Returns at once when one is already running.
int run_governor(const std::filesystem::path& runtime);

// The process `wheelsmith node-compile REQUEST` on another node, in the sandbox: runs the compile and writes its result
// beside the request.
int run_node_compile(const std::filesystem::path& request_file);

// The job count given to build systems when the user set none: it always leaves the governor several to choose from.
unsigned offered_jobs(unsigned cores);

struct Options {
  std::string name;                 // for display in records: a step's id, a command
  unsigned jobs = 0;                // maximum concurrent compiles; 0: one per core
  unsigned cores = 0;               // 0: the machine's
  std::uint64_t memory = 0;         // maximum for all compiles together; 0: all memory
  std::filesystem::path record{};   // overwritten; empty: a new file in the store's logs/
  std::filesystem::path program{};  // the shims' program; empty: our own executable
  cache::CacheOptions cache{};
  bool parts = false;                            // compile GPU sources in parts
  std::vector<std::filesystem::path> earlier{};  // records of earlier attempts in the same tree, oldest first
  // Where shims of a sandboxed build cache compilers' answers: writable only by this build, while the shims are shared.
  // Empty: beside the shims. Sandboxed shims start no governor, since processes outside could not find it.
  std::filesystem::path confined{};
  // Other nodes of the same Slurm job, which compiles may be sent to, and a folder for these in the build's tree. The
  // tree, the tools and this program must be at the same paths there.
  std::vector<NodeRoom> nodes{};
  std::filesystem::path exchange{};
};

struct Places {
  std::vector<std::filesystem::path> readable, writable;
};

// A governed build, from before its first process to after its last:
//
//   GovernedBuild governed(store, options);
//   governed.govern(environment);     // of the processes to come
//   … run them, and now and then governed.status() …
//   governed.finish(exit);
class GovernedBuild {
 public:
  // Throws Error when there is no folder for shims or the governor. Starts the governor if needed.
  GovernedBuild(const store::Store& store, Options options);
  ~GovernedBuild();
  GovernedBuild(const GovernedBuild&) = delete;
  GovernedBuild& operator=(const GovernedBuild&) = delete;

  // Puts the shims first in PATH, the exec hook into LD_PRELOAD, toolkit views where CUDA_HOME and ROCM_PATH point, and
  // job counts that leave the choice to the governor. Job counts already in the environment become the build's upper
  // limit.
  void govern(sys::Environment& environment);

  // The governor's status of this build (docs/governor.md, "Status"). Also maintains the connection: call it at least
  // every few seconds. Never waits.
  const Message& status();
  // Paths that a sandboxed build must see. After govern().
  [[nodiscard]] Places places() const;
  // Likewise on another node, which has no governor.
  [[nodiscard]] Places places_elsewhere() const;
  // The sandbox of compiles on other nodes from now on. Without nodes it does nothing.
  void confine_elsewhere(const sys::SandboxPolicy& policy);
  // Readable when there is something for status(); not open while there is no governor.
  [[nodiscard]] const sys::Fd& news() const;

  [[nodiscard]] const std::filesystem::path& record() const;
  // The SHA-256 of what the compiles of the build have read; nothing if some of them did not report it, or if none ran.
  // After finish().
  [[nodiscard]] std::optional<std::set<std::string>> files_read(const Summary& summary) const;
  // Call after the last process, with the build's result: returns the summary. Waits briefly for the governor's last
  // lines.
  Summary finish(int exit);

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

// Runs a command with our own standard streams under the governor and waits for it: returns its shell exit status, 127
// when it cannot be started.
int run_command(const std::vector<std::string>& argv, const sys::Environment& environment, GovernedBuild& governed);

}  // namespace wheelsmith::governor
