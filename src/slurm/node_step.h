#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::slurm {

// A command on another node of our own allocation: a job step. Pure.
struct NodeStep {
  std::string launcher = "srun";  // a path, or a name in PATH
  std::string node;
  unsigned cpus = 1;         // all that the job has on the node: the governor counts them, not Slurm
  std::uint64_t memory = 0;  // bytes; the kernel ends a step that takes more
  std::vector<std::string> argv;
};
std::vector<std::string> srun_words(const NodeStep& step);

// The variables by which srun finds the allocation, and nothing else of the job's: its other variables would become
// options of the step, and the step's processes see what srun sees.
bool is_srun_variable(std::string_view name);

}  // namespace wheelsmith::slurm
