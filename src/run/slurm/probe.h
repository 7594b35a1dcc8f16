#pragma once

#include <filesystem>

#include "slurm/cluster_facts.h"
#include "store/store.h"

namespace wheelsmith::run {

// Asks the controller, then sends a small job to a node that writes what it finds into the store; waits at most so many
// seconds for it, then cancels it.
slurm::ClusterFacts probe_cluster(store::Store& store, slurm::Commands& commands, const slurm::SiteOptions& site,
                                  double patience);

// The job: `wheelsmith node --probe FILE [--scratch DIR]`.
int probe_node(const std::filesystem::path& file, const std::filesystem::path& scratch_option);

}  // namespace wheelsmith::run
