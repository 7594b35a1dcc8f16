#include "slurm/node_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace wheelsmith::slurm {

std::vector<std::string> srun_words(const NodeStep& step) {
  constexpr std::uint64_t k_step_mebibyte = 1ull << 20;
  // --overlap: steps share the job's cores of the node. Without it a step of one thread takes a whole core of two
  // threads, and the next one waits until the step before it has been cleaned up.
  std::vector<std::string> words = {step.launcher,
                                    "--exact",
                                    "--overlap",
                                    "--nodes=1",
                                    "--ntasks=1",
                                    "--nodelist=" + step.node,
                                    fmt::format("--cpus-per-task={}", std::max(1u, step.cpus)),
                                    "--job-name=ws-compile",
                                    "--mpi=none",
                                    "--chdir=/"};
  if (step.memory != 0)
    words.push_back(fmt::format("--mem={}M", (step.memory + k_step_mebibyte - 1) / k_step_mebibyte));
  words.insert(words.end(), step.argv.begin(), step.argv.end());
  return words;
}

bool is_srun_variable(std::string_view name) {
  constexpr std::array<std::string_view, 9> k_names = {
      "PATH",           "HOME", "USER", "LOGNAME", "SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOBID", "SLURM_CLUSTER_NAME",
      "LD_LIBRARY_PATH"};
  return is_one_of(name, k_names);
}

}  // namespace wheelsmith::slurm
