#pragma once

#include <vector>

#include "doctor/doctor.h"
#include "slurm/cluster_facts.h"

namespace wheelsmith::doctor {

// `doctor --on slurm`: whether steps can run as jobs.
std::vector<Check> check_cluster(const slurm::ClusterFacts& facts);

}  // namespace wheelsmith::doctor
