// module: slurm
// What Slurm's commands print: administrators wrap them, and jobs have any name and any reason.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "slurm/batch.h"
#include "slurm/text.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)slurm::parse_submitted(text);
  (void)slurm::classify(1, text);
  (void)slurm::job_state_named(text);
  if (const auto seconds = slurm::parse_duration(text)) (void)slurm::to_minutes(*seconds);
  for (const slurm::QueuedJob& job : slurm::parse_queue(text)) {
    if (slurm::parse_job_id(slurm::to_string(job.id)) != job.id) std::abort();
  }
  for (const slurm::EndedJob& job : slurm::parse_jobs(text)) {
    if (job.id.job == 0) std::abort();
  }
  for (const slurm::EndedJob& job : slurm::parse_accounting(text)) {
    if (job.id.job == 0) std::abort();
  }
  for (const slurm::Node& node : slurm::parse_nodes(text)) (void)node.usable();
  for (const char c : slurm::job_name(text)) {
    if (c == '/' || c == '%' || c == ' ' || c == '\0') std::abort();
  }
  return 0;
}
