#pragma once

#include <filesystem>

#include "sys/process/process.h"

namespace wheelsmith::run {

// The process `wheelsmith node BATCH` that Slurm starts on a node: runs one step as on any machine, within the job's
// cores and memory, and writes what it reports into the store. Returns the exit status of the job.
int run_on_node(const std::filesystem::path& batch_file);

// The cores of this job by Slurm's variables; 0 where they say nothing.
unsigned cores_of_job(const sys::Environment& environment);

}  // namespace wheelsmith::run
