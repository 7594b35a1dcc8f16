#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slurm/text.h"

// What a step asks Slurm for, and what it asks for after a try that did not end well. Pure: the same history gives the
// same decision.

namespace wheelsmith::slurm {

// The largest node that the jobs may use; 0 where it is not known.
struct NodeLimits {
  unsigned nodes = 0;  // how many there are
  unsigned cpus = 0;
  std::uint64_t memory = 0;  // bytes
  std::optional<std::uint64_t> seconds{};
  // Slurm does not know the memory of its nodes (no RealMemory in slurm.conf): it refuses jobs that request any.
  bool memory_unset = false;
};
// Of the usable nodes of a partition, of several ("a,b"), or of the default one for "". `gpu`: of those with one.
NodeLimits limits_of(const std::vector<Node>& nodes, const std::string& partition, bool gpu);

struct Request {
  unsigned cpus = 1;          // of each node
  std::uint64_t memory = 0;   // of each node, bytes; 0: the partition's default
  std::uint64_t seconds = 0;  // 0: the partition's default
  unsigned gpus = 0;
  unsigned nodes = 1;
  std::vector<std::string> excluded{};  // nodes
  bool operator==(const Request&) const = default;
};

// What is known about a step before it runs.
struct Known {
  // From its last build; 0: none.
  double wall_seconds = 0;
  unsigned wall_cpus = 0;  // that it had, on all nodes together
  unsigned wall_nodes = 1;
  std::uint64_t peak_memory = 0;  // of the job on its first node, bytes
  // From the units' model: what its largest compiles need.
  std::uint64_t unit_memory = 0;
  // From the recipe: 0 where it does not say.
  double core_seconds = 0;
  std::uint64_t memory_per_compile = 0;
};
// The first of these that knows something decides: the step's last build, the units' model, the recipe's figures.
// `nodes`: that share the work.
Request estimate(const Known& known, const NodeLimits& limits, unsigned most_cpus, unsigned nodes = 1);

// What to do when a job has ended without a result.
struct Ending {
  JobState state = JobState::unknown;
  std::string node{};
  std::uint64_t seconds = 0;                  // that it ran
  std::optional<std::uint64_t> time_limit{};  // that Slurm set
  bool silent = false;                        // its report has no result
  bool never_began = false;                   // its report has not one line
  bool disk_full = false;                     // the node has no room for the tree
};
struct Retry {
  bool again = false;
  Request request{};
  std::string why{};  // "it ran out of memory with 200 MB on n1"
};
// Why a pending job may never start, with what the user can do about it; "" for a reason that passes without them.
std::string stuck_because(std::string_view reason);

inline constexpr unsigned k_most_tries = 5;
// `tries`: how many there have been, this one included.
Retry after(const Ending& ending, const Request& request, unsigned tries, const NodeLimits& limits);

}  // namespace wheelsmith::slurm
