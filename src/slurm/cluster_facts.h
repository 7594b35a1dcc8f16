#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slurm/commands.h"

// What was found out about a cluster, for the doctor: by asking the controller, and by a job that looked around on a
// node.

namespace wheelsmith::slurm {

// What a job found on its node.
struct NodeFacts {
  std::string node, kernel;
  double clock_ahead = 0;       // seconds by which the node's clock is ahead
  std::string store_problem{};  // why it cannot write to the store
  std::string scratch{};        // its folder for trees and environments
  std::string scratch_problem{};
  std::uint64_t scratch_free = 0;
  unsigned cores = 0;
  std::uint64_t memory = 0;
};

struct ClusterFacts {
  std::vector<std::string> missing{};  // of the commands
  Reply controller{};                  // sinfo's
  std::vector<Node> nodes{};
  std::string partition{};  // that the jobs go to; "" for the default one
  Reply submitted{};        // of the job; only where the controller answers and the partition has nodes
  std::string waits{};      // why it did not start in time; "" if it did
  std::optional<EndedJob> ended{};
  std::string output{};  // what it printed
  std::optional<NodeFacts> node{};
  std::string store;  // its folder
};

}  // namespace wheelsmith::slurm
