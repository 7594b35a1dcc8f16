#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/executor.h"
#include "run/slurm/farm.h"
#include "slurm/batch.h"
#include "slurm/policy.h"
#include "slurm/text.h"

namespace wheelsmith::run {

// A step that the executor was given: its job in Slurm, and what its report has told so far.
struct FarmTask {
  std::size_t ticket = 0;
  Job job;
  Resources resources;
  FarmFolder folder;
  slurm::SiteOptions site;
  slurm::NodeLimits limits;
  Try one;                 // the one that runs, or is to be submitted
  bool submitted = false;  // its job is in Slurm
  double waiting_since = 0;
  double locked_since = 0;   // another coordinator has its lock; 0: none
  double read_at = 0;        // when the report is to be read again
  std::uint64_t offset = 0;  // in the report
  std::string partial{};
  std::string told_reason{};
  std::string node{};
  double heard = 0;   // when the report last grew
  double absent = 0;  // since when the queue does not list it; 0: it does
  std::optional<slurm::EndedJob> ended{};
  double ended_at = 0;
  std::optional<StepOutcome> outcome{};  // its last line
  bool disturbed = false, memory_killed = false, disk_full = false;
  std::string lost{};
  bool cancelled = false;
};

// Reports to the coordinator.
void tell(std::vector<Report>& reports, const FarmTask& task, Event event);
void note(std::vector<Report>& reports, const FarmTask& task, std::string text);
// Shows why a pending job waits, when the reason changes.
void show(FarmTask& task, const slurm::QueuedJob& job, std::vector<Report>& reports);

bool has_report(const FarmTask& task);
// The name of the job of the task's next try.
std::string next_name(const FarmTask& task);
// Reads what the report has gained since the last call.
void read_report(FarmTask& task, double now, std::vector<Report>& reports);
// The end of what Slurm and the program printed.
std::string output_of(const FarmTask& task);

// Slurm does not accept the job.
void refuse(FarmTask& task, const std::string& why);
// Ends this try; the task waits to be submitted again.
void again(FarmTask& task, slurm::Request request);
StepOutcome cancelled_outcome(const FarmTask& task);
// Reports the outcome. Always true: the task is over.
bool finish(FarmTask& task, StepOutcome outcome, std::vector<Report>& reports);

}  // namespace wheelsmith::run
